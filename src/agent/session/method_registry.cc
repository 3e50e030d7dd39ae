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

std::uint16_t length_of(std::string_view text) { return static_cast<std::uint16_t>(text.size()); }

}  // namespace

// Pads the record, fills in its size, and hands it over.
void MethodRegistry::append(ByteWriter& record) {
  record.zeros((8 - record.size() % 8) % 8);
  const auto size = static_cast<std::uint32_t>(record.size());
  std::memcpy(record.data() + offsetof(arena::RecordHeader, size), &size, sizeof size);
  if (!arena_.append(record.view())) arena_.count(Counter::kRecordsDropped);
}

std::uint32_t MethodRegistry::new_number(bool of_jdk) {
  if (numbers_ != nullptr) return numbers_->next(of_jdk);
  if (flat_ != nullptr) return ++last_other_method_;
  return of_jdk ? last_jdk_method_ += 2 : last_other_method_ += 2;
}

std::uint32_t MethodRegistry::number_of(const std::string& name, bool of_jdk) {
  if (numbers_ == nullptr) return new_number(of_jdk);
  std::uint32_t& number = numbers_->of(name);
  if (number == 0) number = numbers_->next(of_jdk);
  return number;
}

std::uint32_t MethodRegistry::next_method_id(const Member& method, bool of_jdk) {
  std::string name;
  if (numbers_ != nullptr) {
    name = class_name_ + "." + std::string(method.name) + std::string(method.descriptor) + (of_jdk ? "#jdk " : "# ") +
           std::to_string(code_length(method));
  }
  const std::uint32_t id = number_of(name, of_jdk);
  if (flat_ == nullptr || flat_->make_room_for(id)) return id;
  arena_.count(Counter::kMethodsWithoutCounters);
  return 0;
}

std::uint32_t MethodRegistry::add_class(const classfile::ClassFile& cls, std::uint16_t flags) {
  std::string_view source;
  if (const auto attribute = cls.attributes().find(classfile::attribute::kSourceFile);
      attribute && attribute->content.size() == 2) {
    source = cls.pool().utf8(classfile::PoolIndex(load_u2(attribute->content.data())));
  }
  class_name_ = cls.name();
  record_.clear();
  put(record_, arena::ClassRecord{.header = {.kind = arena::RecordKind::kClass, .reserved = 0, .size = 0},
                                  .class_id = ++last_class_,
                                  .flags = flags,
                                  .name_length = length_of(cls.name()),
                                  .source_length = length_of(source),
                                  .reserved = {}});
  record_.text(cls.name());
  record_.text(source);
  append(record_);
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
  if (numbers_ != nullptr && !recorded_.insert(id).second) return;
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
  append(record_);
}

std::uint32_t MethodRegistry::id_of(const MemberRef& method, KnownKind kind) {
  std::string key(method.class_name);
  key.append(".").append(method.name).append(method.descriptor);
  const auto [entry, is_new] = known_ids_.try_emplace(std::move(key), 0);
  if (!is_new) return entry->second;
  entry->second = number_of(entry->first, true);
  if (flat_ != nullptr && !flat_->make_room_for(entry->second)) {
    arena_.count(Counter::kMethodsWithoutCounters);
    return entry->second = 0;
  }
  methods_.set(entry->second, 0, true);
  if (names_ != nullptr) {
    names_->add(entry->second, {.class_name = std::string(method.class_name),
                                .name = std::string(method.name),
                                .descriptor = std::string(method.descriptor),
                                .constant_bytecodes = 0,
                                .has_no_node = true});
  }
  record_.clear();
  put(record_, arena::MethodRecord{.header = {.kind = arena::RecordKind::kMethod, .reserved = 0, .size = 0},
                                   .method_id = entry->second,
                                   .class_id = 0,
                                   .access_flags = 0,
                                   .flags = kind == KnownKind::kNative ? arena::kNative : arena::kIntrinsic,
                                   .constant_bytecodes = 0,
                                   .site_count = 0,
                                   .first_line = 0,
                                   .name_length = length_of(method.name),
                                   .descriptor_length = length_of(method.descriptor),
                                   .class_name_length = length_of(method.class_name)});
  record_.text(method.name);
  record_.text(method.descriptor);
  record_.text(method.class_name);
  append(record_);
  return entry->second;
}

}  // namespace sonde::agent
