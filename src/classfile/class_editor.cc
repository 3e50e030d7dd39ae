// SPDX-License-Identifier: Apache-2.0
#include "classfile/class_editor.h"

#include <algorithm>
#include <functional>
#include <string>

namespace sonde::classfile {

bool has_code(const Member& method) { return method.attributes.find(attribute::kCode).has_value(); }

void ClassEditor::open(const ClassFile& cls) {
  cls_ = &cls;
  current_ = nullptr;
  pool_.reset(cls.pool());
  codes_.clear();
  edited_.clear();
  added_fields_.clear();
}

Result<CodeEditor*> ClassEditor::edit(const Member& method) {
  current_ = nullptr;
  TRY(editor_.open(*cls_, method, pool_));
  current_ = &method;
  return &editor_;
}

Result<void> ClassEditor::commit() {
  if (current_ == nullptr) return Error{ErrorCode::kInvalidArgument, "no method is being edited"};
  const Member& method = *current_;
  current_ = nullptr;
  const std::size_t begin = codes_.size();
  Result<void> assembled = editor_.refused_
                               ? Result<void>(*editor_.refused_)
                               : assembler_.assemble(editor_.code_, editor_.stack_maps_, editor_.edits_, pool_, codes_);
  if (!assembled.ok()) {
    codes_.truncate(begin);
    return std::move(assembled).error().within("method `" + qualified_name(*cls_, method) + "`");
  }
  const EditedCode code{.method = &method,
                        .begin = static_cast<std::uint32_t>(begin),
                        .size = static_cast<std::uint32_t>(codes_.size() - begin)};
  // Methods come mostly in order. One that is edited twice starts from its original code each time: the last one
  // counts.
  const auto place = std::ranges::lower_bound(edited_, &method, std::less<>{}, &EditedCode::method);
  if (place != edited_.end() && place->method == &method) {
    *place = code;
  } else {
    edited_.insert(place, code);
  }
  return {};
}

void ClassEditor::add_field(std::uint16_t access_flags, std::string_view name, std::string_view descriptor) {
  const PoolIndex name_index = pool_.utf8(name);
  added_fields_.push_back({.access_flags = access_flags, .name = name_index, .descriptor = pool_.utf8(descriptor)});
}

void ClassEditor::write_fields() {
  const Bytes file = cls_->bytes();
  const std::uint32_t begin = cls_->fields_offset();
  out_.u2(static_cast<std::uint16_t>(cls_->fields().size() + added_fields_.size()));
  out_.bytes(file.subspan(begin + 2, cls_->methods_offset() - begin - 2));
  for (const AddedField& field : added_fields_) {
    out_.u2(field.access_flags);
    out_.u2(field.name.value());
    out_.u2(field.descriptor.value());
    out_.u2(0);
  }
}

void ClassEditor::write_method(const Member& method, Bytes code) {
  out_.u2(method.access_flags);
  out_.u2(method.name_index.value());
  out_.u2(method.descriptor_index.value());
  out_.u2(method.attributes.size());
  bool replaced = false;
  for (const Attribute& attribute : method.attributes) {
    const bool is_code = attribute.name == attribute::kCode && !replaced;
    const Bytes content = is_code ? code : attribute.content;
    replaced = replaced || is_code;
    out_.u2(attribute.name_index.value());
    out_.u4(static_cast<std::uint32_t>(content.size()));
    out_.bytes(content);
  }
}

void ClassEditor::write_methods() {
  out_.u2(static_cast<std::uint16_t>(cls_->methods().size()));
  auto edited = edited_.begin();
  for (const Member& method : cls_->methods()) {
    if (edited != edited_.end() && edited->method == &method) {
      write_method(method, codes_.view().subspan(edited->begin, edited->size));
      ++edited;
    } else {
      out_.bytes(method.bytes);
    }
  }
}

Result<Bytes> ClassEditor::write() {
  if (pool_.is_full() || cls_->fields().size() + added_fields_.size() > 65535) {
    return Error{ErrorCode::kTooLarge,
                 pool_.is_full() ? "constant pool would pass 65535 entries" : "class would pass 65535 fields",
                 {.path = "class `" + std::string(cls_->name()) + "`", .byte_offset = {}}};
  }
  const Bytes file = cls_->bytes();
  out_.clear();
  out_.bytes(file.first(8));  // magic and version
  out_.u2(pool_.count());
  out_.bytes(cls_->pool().bytes());
  out_.bytes(pool_.added());
  out_.bytes(file.subspan(cls_->access_flags_offset(), cls_->fields_offset() - cls_->access_flags_offset()));
  write_fields();
  write_methods();
  out_.bytes(cls_->attributes().bytes());
  return out_.view();
}

}  // namespace sonde::classfile
