// SPDX-License-Identifier: Apache-2.0
#include "agent/session/thread_records.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <vector>

#include "agent/session/recording_state.h"

namespace sonde::agent {

std::string kind_of_thread(std::string_view name, bool is_virtual) {
  if (is_virtual) return "virtual";
  std::string kind;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) kind += c;
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

void record_thread(arena::Writer& arena, std::uint32_t tree_id, std::string_view name, bool is_virtual) {
  if (is_virtual && name.empty()) name = "virtual";
  name = name.substr(0, 1000);
  const std::size_t size = (sizeof(arena::ThreadRecord) + name.size() + 7) / 8 * 8;
  std::vector<std::uint8_t> bytes(size);
  const arena::ThreadRecord record{
      .header = {.kind = arena::RecordKind::kThread, .reserved = 0, .size = static_cast<std::uint32_t>(size)},
      .tree_id = tree_id,
      .reserved = 0,
      .java_thread_id = 0,
      .start_ns = realtime_ns(),
      .name_length = static_cast<std::uint16_t>(name.size()),
      .flags = is_virtual ? std::uint16_t{1} : std::uint16_t{0},
      .reserved2 = 0};
  std::memcpy(bytes.data(), &record, sizeof record);
  std::ranges::copy(as_bytes(name), bytes.begin() + sizeof record);
  if (!arena.append(bytes)) arena.count(Counter::kRecordsDropped);
}

}  // namespace sonde::agent
