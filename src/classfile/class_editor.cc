// SPDX-License-Identifier: Apache-2.0
#include "classfile/class_editor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>

namespace sonde::classfile {
namespace {

constexpr std::size_t kFieldSize = 8;  // of a field_info without attributes

}  // namespace

void ClassEditor::open(const ClassFile& cls) {
  constexpr std::size_t kAddedByMost = 4096;  // constants and fields; more is possible and costs a copy
  cls_ = &cls;
  current_ = nullptr;
  pool_.reset(cls.pool());
  edited_.clear();
  added_fields_.clear();
  room_ = cls.methods_offset() + kAddedByMost;
  rest_ = cls.bytes().data() + cls.methods_offset();
  out_.clear();
  out_.extend(room_);
}

Result<CodeEditor*> ClassEditor::edit(const Member& method) {
  current_ = nullptr;
  TRY(editor_.open(*cls_, method, pool_));
  current_ = &method;
  return &editor_;
}

Result<void> ClassEditor::assemble(ByteWriter& out) {
  if (editor_.refused_) return *editor_.refused_;
  return assembler_.assemble(editor_.code_, editor_.stack_maps_, editor_.edits_, pool_, out);
}

// The next one in the order of the class: what lies before it is copied, then its Code is written.
Result<void> ClassEditor::append(Bytes original) {
  out_.bytes({rest_, original.data()});
  const auto begin = static_cast<std::uint32_t>(out_.size());
  TRY(assemble(out_));
  const auto end = static_cast<std::uint32_t>(out_.size());
  out_.patch_u4(begin - 4, end - begin);
  rest_ = original.data() + original.size();
  edited_.push_back({.original = original, .begin = begin, .end = end});
  return {};
}

// One that has been passed already, edited or not. One that is edited twice starts from its original code each time:
// the last edit counts.
Result<void> ClassEditor::replace(Bytes original) {
  replacement_.clear();
  TRY(assemble(replacement_));
  auto next = std::ranges::upper_bound(edited_, original.data(), std::less<>{},
                                       [](const Edited& edited) { return edited.original.data(); });
  if (next != edited_.begin() && std::prev(next)->original.data() == original.data()) {
    --next;
  } else {
    // It was copied as it is, so it lies as far behind the last edited one before it as ever.
    const std::uint8_t* from = cls_->bytes().data() + cls_->methods_offset();
    std::size_t begin = room_;
    if (next != edited_.begin()) {
      const Edited& before = *std::prev(next);
      from = before.original.data() + before.original.size();
      begin = before.end;
    }
    begin += static_cast<std::size_t>(original.data() - from);
    next = edited_.insert(next, {.original = original,
                                 .begin = static_cast<std::uint32_t>(begin),
                                 .end = static_cast<std::uint32_t>(begin + original.size())});
  }
  const std::size_t moved = out_.size() - next->end;
  const std::uint32_t old_end = next->end;
  const auto new_end = static_cast<std::uint32_t>(next->begin + replacement_.size());
  if (new_end > old_end) out_.extend(new_end - old_end);
  std::memmove(out_.data() + new_end, out_.data() + old_end, moved);
  out_.truncate(new_end + moved);
  std::ranges::copy(replacement_.view(), out_.data() + next->begin);
  out_.patch_u4(next->begin - 4, static_cast<std::uint32_t>(replacement_.size()));
  next->end = new_end;
  for (++next; next != edited_.end(); ++next) {
    next->begin += new_end - old_end;  // may be less than nothing: it wraps
    next->end += new_end - old_end;
  }
  return {};
}

Result<void> ClassEditor::commit() {
  if (current_ == nullptr) return Error{ErrorCode::kInvalidArgument, "no method is being edited"};
  const Member& method = *current_;
  current_ = nullptr;
  const Bytes original = editor_.code_.content();
  const std::size_t size = out_.size();
  const bool is_next = original.data() >= rest_;
  auto written = is_next ? append(original) : replace(original);
  if (written.ok()) [[likely]]
    return {};
  if (is_next) out_.truncate(size);
  return std::move(written).error().within("method `" + qualified_name(*cls_, method) + "`");
}

void ClassEditor::add_field(std::uint16_t access_flags, std::string_view name, std::string_view descriptor) {
  const PoolIndex name_index = pool_.utf8(name);
  added_fields_.push_back({.access_flags = access_flags, .name = name_index, .descriptor = pool_.utf8(descriptor)});
}

// Everything before the methods.
void ClassEditor::write_front(std::uint8_t* to) const {
  const Bytes file = cls_->bytes();
  const auto put = [&to](Bytes bytes) {
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
  };
  const auto put_u2 = [&to](std::size_t value) {
    store_u2(to, static_cast<std::uint16_t>(value));
    to += 2;
  };
  put(file.first(8));  // magic and version
  put_u2(pool_.count());
  put(cls_->pool().bytes());
  put(pool_.added());
  put(file.subspan(cls_->access_flags_offset(), cls_->fields_offset() - cls_->access_flags_offset()));
  put_u2(cls_->fields().size() + added_fields_.size());
  put(file.subspan(cls_->fields_offset() + 2, cls_->methods_offset() - cls_->fields_offset() - 2));
  for (const AddedField& field : added_fields_) {
    put_u2(field.access_flags);
    put_u2(field.name.value());
    put_u2(field.descriptor.value());
    put_u2(0);
  }
}

Result<Bytes> ClassEditor::write() {
  if (pool_.is_full() || cls_->fields().size() + added_fields_.size() > 65535) {
    return Error{ErrorCode::kTooLarge,
                 pool_.is_full() ? "constant pool would pass 65535 entries" : "class would pass 65535 fields",
                 {.path = "class `" + std::string(cls_->name()) + "`", .byte_offset = {}}};
  }
  const Bytes file = cls_->bytes();
  const std::uint8_t* const end = file.data() + file.size();
  out_.bytes({rest_, end});
  rest_ = end;
  const std::size_t front = cls_->methods_offset() + pool_.added().size() + added_fields_.size() * kFieldSize;
  if (front > room_) {
    const std::size_t moved = out_.size() - room_;
    out_.extend(front - room_);
    std::memmove(out_.data() + front, out_.data() + room_, moved);
    for (Edited& edited : edited_) {
      edited.begin += static_cast<std::uint32_t>(front - room_);
      edited.end += static_cast<std::uint32_t>(front - room_);
    }
    room_ = front;
  }
  write_front(out_.data() + room_ - front);
  return out_.view().subspan(room_ - front);
}

}  // namespace sonde::classfile
