// SPDX-License-Identifier: Apache-2.0
#include "agent/session/method_registry.h"

#include <algorithm>
#include <cstring>

namespace sonde::agent {

using classfile::Member;
using classfile::MemberRef;
using instrument::CountedMethod;
using instrument::KnownKind;

namespace {

template <typename Struct>
void put(ByteWriter& out, const Struct& value) {
  std::memcpy(out.extend(sizeof value), &value, sizeof value);
}

std::uint32_t code_length(const Member& method) {
  const auto code = method.attributes.find(classfile::attribute::kCode);
  return code && code->content.size() >= 8 ? load_u4(code->content.data() + 4) : 0;
}

// Places begin with 0, numbers of the JDK's methods with 2.
std::uint32_t number_of_place(std::uint32_t place) { return 2 * (place + 1); }

// The JDK before 18 makes a class for each method that is called by reflection often enough, and numbers them as they
// come: to have them all in the tree would tell nobody anything, and the tree would grow for ever.
std::string name_without_number(std::string_view class_name) {
  if (!class_name.starts_with("jdk/internal/reflect/Generated")) return std::string(class_name);
  return std::string(class_name.substr(0, class_name.find_last_not_of("0123456789") + 1));
}

// The first time that this is asked for a number.
bool is_first(std::uint32_t number, std::vector<bool>& seen) {
  if (number >= seen.size()) seen.resize(number + 1);
  if (seen[number]) return false;
  seen[number] = true;
  return true;
}

std::uint16_t length_of(std::string_view text) { return static_cast<std::uint16_t>(text.size()); }

std::uint16_t flags_of(KnownKind kind) {
  switch (kind) {
    case KnownKind::kNone: return 0;
    case KnownKind::kNative: return arena::kNative;
    case KnownKind::kIntrinsic: return arena::kIntrinsic;
    case KnownKind::kNativeIntrinsic: return arena::kNative | arena::kIntrinsic;
  }
  return 0;
}

}  // namespace

// Pads the record and fills in its size.
void MethodRegistry::seal(ByteWriter& record) {
  record.zeros((8 - record.size() % 8) % 8);
  const auto size = static_cast<std::uint32_t>(record.size());
  std::memcpy(record.data() + offsetof(arena::RecordHeader, size), &size, sizeof size);
  if (noted_ != nullptr) noted_->bytes(record.view());
}

void MethodRegistry::append(Bytes records) {
  if (!records.empty() && !arena_.append(records)) arena_.count(Counter::kRecordsDropped);
}

std::uint32_t MethodRegistry::new_number(bool of_jdk) {
  if (numbers_ != nullptr) return numbers_->next(of_jdk);
  if (flat_ != nullptr) return ++last_other_method_;
  return of_jdk ? last_jdk_method_ += 2 : last_other_method_ += 2;
}

std::uint32_t MethodRegistry::number_of(const std::string& name, bool of_jdk) {
  if (!may_come_again(of_jdk)) return new_number(of_jdk);
  std::uint32_t& number = kept_numbers().of(name);
  if (number == 0) number = new_number(of_jdk);
  return number;
}

std::uint32_t MethodRegistry::method_id(const Member& method, bool of_jdk, unsigned attempt) {
  std::string name;
  if (may_come_again(of_jdk)) {
    name = class_name_ + "." + std::string(method.name) + std::string(method.descriptor) + (of_jdk ? "#jdk " : "# ") +
           std::to_string(code_length(method)) + " " + std::to_string(attempt);
  }
  const std::uint32_t id = number_of(name, of_jdk);
  if (flat_ == nullptr || flat_->make_room_for(id)) return id;
  arena_.count(Counter::kMethodsWithoutCounters);
  return 0;
}

void MethodRegistry::return_to(const classfile::ClassFile& cls) { class_name_ = name_without_number(cls.name()); }

bool MethodRegistry::claim(std::uint32_t id, bool of_jdk, const CountedMethod& counted) {
  return !may_come_again(of_jdk) || kept_numbers().claim(id, counted);
}

std::uint32_t MethodRegistry::add_class(const classfile::ClassFile& cls, std::uint16_t flags) {
  class_name_ = name_without_number(cls.name());
  const bool of_jdk = (flags & arena::kClassOfJdk) != 0;
  std::uint32_t* const known = may_come_again(of_jdk) ? &class_ids_[class_name_] : nullptr;
  if (known != nullptr && *known != 0) return *known;
  std::string_view source;
  if (const auto attribute = cls.attributes().find(classfile::attribute::kSourceFile);
      attribute && attribute->content.size() == 2) {
    source = cls.pool().utf8(classfile::PoolIndex(load_u2(attribute->content.data())));
  }
  record_.clear();
  put(record_, arena::ClassRecord{.header = {.kind = arena::RecordKind::kClass, .reserved = 0, .size = 0},
                                  .class_id = ++last_class_,
                                  .flags = flags,
                                  .name_length = length_of(class_name_),
                                  .source_length = length_of(source),
                                  .reserved = {}});
  record_.text(class_name_);
  record_.text(source);
  seal(record_);
  append(record_.view());
  if (known != nullptr) *known = last_class_;
  return last_class_;
}

void MethodRegistry::add_method(std::uint32_t id, std::uint32_t class_id, const Member& method, std::uint16_t flags,
                                const CountedMethod& counted) {
  methods_.set(id, counted.constant_bytecodes, counted.is_leaf);
  if (names_ != nullptr) {
    MethodNames::Method known = {.class_name = class_name_,
                                 .name = std::string(method.name),
                                 .descriptor = std::string(method.descriptor),
                                 .constant_bytecodes = counted.constant_bytecodes,
                                 .has_no_node = counted.is_leaf};
    for (const instrument::SiteLine& site : counted.sites) known.lines.push_back(site.line);
    names_->add(id, std::move(known));
  }
  if (!is_first(id, recorded_)) return;
  record_.clear();
  put(record_, arena::MethodRecord{.header = {.kind = arena::RecordKind::kMethod, .reserved = 0, .size = 0},
                                   .method_id = id,
                                   .class_id = class_id,
                                   .access_flags = method.access_flags,
                                   .flags = flags,
                                   .constant_bytecodes = counted.constant_bytecodes,
                                   .site_count = static_cast<std::uint32_t>(counted.sites.size()),
                                   .first_line = counted.first_line,
                                   .name_length = length_of(method.name),
                                   .descriptor_length = length_of(method.descriptor),
                                   .class_name_length = 0});
  for (const instrument::SiteLine& site : counted.sites)
    put(record_, arena::SiteInfo{.pc = site.pc, .line = site.line});
  record_.text(method.name);
  record_.text(method.descriptor);
  seal(record_);
  append(record_.view());
}

std::uint32_t MethodRegistry::id_of(const MemberRef& method, KnownKind kind) {
  std::string key(method.class_name);
  key.append(".").append(method.name).append(method.descriptor);
  const auto [entry, is_new] = known_ids_.try_emplace(std::move(key), 0);
  const std::uint32_t id = is_new ? number_of_callee(method, entry->first) : entry->second;
  if (is_new) entry->second = id;
  const bool is_noted = note_callee(id);
  if (id == 0 || (!is_new && is_noted)) return id;
  make_callee_record(id, method, kind);
  if (!is_new || !is_first_mention(id)) return id;
  methods_.set(id, 0, true);
  if (names_ != nullptr) {
    names_->add(id, {.class_name = std::string(method.class_name),
                     .name = std::string(method.name),
                     .descriptor = std::string(method.descriptor),
                     .constant_bytecodes = 0,
                     .has_no_node = true});
  }
  append(record_.view());
  return id;
}

std::uint32_t MethodRegistry::number_of_callee(const MemberRef& method, const std::string& name) {
  const auto place = known_ == nullptr ? std::nullopt : known_->position(method);
  const std::uint32_t id = place ? number_of_place(*place) : number_of(name, true);
  if (flat_ == nullptr || flat_->make_room_for(id)) return id;
  arena_.count(Counter::kMethodsWithoutCounters);
  return 0;
}

void MethodRegistry::make_callee_record(std::uint32_t id, const MemberRef& method, KnownKind kind) {
  record_.clear();
  put(record_, arena::MethodRecord{.header = {.kind = arena::RecordKind::kMethod, .reserved = 0, .size = 0},
                                   .method_id = id,
                                   .class_id = 0,
                                   .access_flags = 0,
                                   .flags = flags_of(kind),
                                   .constant_bytecodes = 0,
                                   .site_count = 0,
                                   .first_line = 0,
                                   .name_length = length_of(method.name),
                                   .descriptor_length = length_of(method.descriptor),
                                   .class_name_length = length_of(method.class_name)});
  record_.text(method.name);
  record_.text(method.descriptor);
  record_.text(method.class_name);
  seal(record_);
}

// True if there is nothing to note, or it was done before.
bool MethodRegistry::note_callee(std::uint32_t callee) {
  if (noted_ == nullptr || std::ranges::find(noted_callees_, callee) != noted_callees_.end()) return true;
  noted_callees_.push_back(callee);
  return false;
}

bool MethodRegistry::is_first_mention(std::uint32_t callee) {
  return known_ == nullptr || is_first(callee / 2, mentioned_);  // else known_ids_ has it
}

void MethodRegistry::note_records(ByteWriter* records) {
  noted_ = records;
  noted_callees_.clear();
}

void MethodRegistry::fix_numbers(const instrument::KnownMethods& known, std::uint32_t next_method,
                                 std::uint32_t next_class) {
  known_ = &known;
  last_jdk_method_ = std::max(number_of_place(static_cast<std::uint32_t>(known.size())), next_method);
  last_class_ = next_class;
}

void MethodRegistry::replay(Bytes records) {
  std::size_t begin = 0;  // of what is not in the arena yet
  for (std::size_t at = 0; at < records.size();) {
    arena::RecordHeader header;
    std::memcpy(&header, records.data() + at, sizeof header);
    const std::size_t end = at + header.size;
    if (header.kind == arena::RecordKind::kMethod) {
      arena::MethodRecord method;
      std::memcpy(&method, records.data() + at, sizeof method);
      const bool is_callee = method.class_id == 0;
      methods_.set(method.method_id, method.constant_bytecodes, is_callee || (method.flags & arena::kLeaf) != 0);
      if (is_callee && !is_first_mention(method.method_id)) {
        append(records.subspan(begin, at - begin));
        begin = end;
      }
    }
    at = end;
  }
  append(records.subspan(begin));
}

}  // namespace sonde::agent
