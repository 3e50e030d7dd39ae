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
  methods_.clear();
  edited_.clear();
  added_fields_.clear();
}

Result<CodeEditor*> ClassEditor::edit(const Member& method) {
  current_ = nullptr;
  TRY(editor_.open(*cls_, method, pool_));
  current_ = &method;
  return &editor_;
}

// A method_info is what it was but for the content of its Code attribute.
Result<void> ClassEditor::write_method(const Member& method) {
  if (editor_.refused_) return *editor_.refused_;
  const Bytes old_code = editor_.code_.attribute().content;
  const std::uint8_t* const old_end = old_code.data() + old_code.size();
  methods_.bytes({method.bytes.data(), old_code.data()});
  const std::size_t begin = methods_.size();
  TRY(assembler_.assemble(editor_.code_, editor_.stack_maps_, editor_.edits_, pool_, methods_));
  methods_.patch_u4(begin - 4, static_cast<std::uint32_t>(methods_.size() - begin));
  methods_.bytes({old_end, method.bytes.data() + method.bytes.size()});
  return {};
}

Result<void> ClassEditor::commit() {
  if (current_ == nullptr) return Error{ErrorCode::kInvalidArgument, "no method is being edited"};
  const Member& method = *current_;
  current_ = nullptr;
  const std::size_t begin = methods_.size();
  if (auto written = write_method(method); !written.ok()) [[unlikely]] {
    methods_.truncate(begin);
    return std::move(written).error().within("method `" + qualified_name(*cls_, method) + "`");
  }
  const EditedMethod edited{.method = &method,
                            .begin = static_cast<std::uint32_t>(begin),
                            .end = static_cast<std::uint32_t>(methods_.size())};
  if (edited_.empty() || edited_.back().method < &method) [[likely]] {
    edited_.push_back(edited);
    return {};
  }
  // One that is edited twice starts from its original code each time: the last one counts.
  const auto place = std::ranges::lower_bound(edited_, &method, std::less<>{}, &EditedMethod::method);
  if (place->method == &method) {
    *place = edited;
  } else {
    edited_.insert(place, edited);
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

// Runs of methods that were edited one after the other are copied at once, and so is what lies between them.
void ClassEditor::write_methods() {
  const Bytes file = cls_->bytes();
  const std::uint8_t* rest = file.data() + cls_->methods_offset();  // what is not copied yet
  for (auto edited = edited_.begin(); edited != edited_.end();) {
    out_.bytes({rest, edited->method->bytes.data()});
    const std::uint32_t begin = edited->begin;
    std::uint32_t end = begin;
    do {
      end = edited->end;
      rest = edited->method->bytes.data() + edited->method->bytes.size();
      ++edited;
    } while (edited != edited_.end() && edited->begin == end && edited->method->bytes.data() == rest);
    out_.bytes(methods_.view().subspan(begin, end - begin));
  }
  out_.bytes({rest, cls_->attributes().bytes().data()});
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
