// SPDX-License-Identifier: Apache-2.0
#include "agent/session/sampled_methods.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace sonde::agent {
namespace {

constexpr std::uint32_t kFirstId = 0x40000000;  // beyond those of MethodRegistry
constexpr std::uint16_t kAccNative = 0x0100;

template <typename Struct>
void put(ByteWriter& out, const Struct& value) {
  std::memcpy(out.extend(sizeof value), &value, sizeof value);
}

std::uint16_t length_of(std::string_view text) { return static_cast<std::uint16_t>(text.size()); }

// Methods in which threads wait, by name: they are part of the JDK for as long as anybody looks.
arena::ThreadState state_in(const MethodName& method) {
  const std::string& cls = method.class_name;
  if (cls == "jdk/internal/misc/Unsafe" && method.name == "park") return arena::ThreadState::kParked;
  if (cls == "java/lang/Thread" && method.name.starts_with("sleep")) return arena::ThreadState::kSleeping;
  if (cls == "java/lang/Object" && method.name.starts_with("wait")) return arena::ThreadState::kWaiting;
  const bool is_native = (method.access_flags & kAccNative) != 0;
  for (const char* package : {"sun/nio/ch/", "sun/nio/fs/", "java/net/", "java/io/", "java/lang/Process"}) {
    if (is_native && cls.starts_with(package)) return arena::ThreadState::kIo;
  }
  return arena::ThreadState::kBlocked;
}

}  // namespace

arena::ThreadState SampledMethods::waiting_in(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  return found == waiting_.end() ? arena::ThreadState::kBlocked : found->second;
}

void SampledMethods::append() {
  record_.zeros((8 - record_.size() % 8) % 8);
  const auto size = static_cast<std::uint32_t>(record_.size());
  std::memcpy(record_.data() + offsetof(arena::RecordHeader, size), &size, sizeof size);
  if (!arena_.append(record_.view())) arena_.count(Counter::kRecordsDropped);
}

std::uint32_t SampledMethods::class_id(const MethodName& method) {
  const auto [entry, is_new] =
      classes_.try_emplace(method.class_name, kFirstId + static_cast<std::uint32_t>(classes_.size()));
  if (!is_new) return entry->second;
  record_.clear();
  put(record_, arena::ClassRecord{.header = {.kind = arena::RecordKind::kClass, .reserved = 0, .size = 0},
                                  .class_id = entry->second,
                                  .flags = arena::kClassKnownByName,
                                  .name_length = length_of(method.class_name),
                                  .source_length = length_of(method.source_file),
                                  .reserved = {}});
  record_.text(method.class_name);
  record_.text(method.source_file);
  append();
  return entry->second;
}

std::uint32_t SampledMethods::id_of(MethodName method) {
  const std::lock_guard lock(mutex_);
  // "app/Main$$Lambda+0x00007f0c": an address says nothing, and would be another one in the next run.
  for (const char* address : {"+0x", "/0x", ".0x"}) {
    method.class_name.erase(std::min(method.class_name.find(address), method.class_name.size()));
  }
  const std::uint32_t cls = class_id(method);
  return add(std::to_string(cls) + "." + method.name + method.descriptor, cls, method,
             (method.access_flags & kAccNative) != 0 ? arena::kNative : 0);
}

std::uint32_t SampledMethods::id_of_function(const std::string& path, const std::string& library,
                                             std::uint64_t offset) {
  char name[32];
  std::snprintf(name, sizeof name, "+0x%llx", static_cast<unsigned long long>(offset));
  const std::lock_guard lock(mutex_);
  return add(path + name, 0, {.class_name = "", .source_file = "", .name = library + name, .descriptor = path},
             arena::kPseudo | arena::kFunction);
}

std::uint32_t SampledMethods::id_of_pseudo(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return add(name, 0, {.class_name = "", .source_file = "", .name = name, .descriptor = ""}, arena::kPseudo);
}

std::uint32_t SampledMethods::add(std::string key, std::uint32_t class_id, const MethodName& method,
                                  std::uint16_t flags) {
  const auto [entry, is_new] =
      methods_.try_emplace(std::move(key), kFirstId + static_cast<std::uint32_t>(methods_.size()));
  if (!is_new) return entry->second;
  record_.clear();
  put(record_, arena::MethodRecord{.header = {.kind = arena::RecordKind::kMethod, .reserved = 0, .size = 0},
                                   .method_id = entry->second,
                                   .class_id = class_id,
                                   .access_flags = method.access_flags,
                                   .flags = flags,
                                   .constant_bytecodes = 0,
                                   .site_count = 0,
                                   .first_line = method.first_line,
                                   .name_length = length_of(method.name),
                                   .descriptor_length = length_of(method.descriptor),
                                   .class_name_length = 0});
  record_.text(method.name);
  record_.text(method.descriptor);
  append();
  if (const arena::ThreadState state = state_in(method); state != arena::ThreadState::kBlocked) {
    waiting_[entry->second] = state;
  }
  return entry->second;
}

}  // namespace sonde::agent
