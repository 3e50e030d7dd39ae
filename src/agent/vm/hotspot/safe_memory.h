// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Reads memory of this process that may not be there any more: a class may be unloaded while its
// method is looked up. A failed read is an answer and not a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sonde::agent::hotspot {

bool read_memory(std::uint64_t address, void* out, std::size_t size);

template <typename T>
std::optional<T> read_value(std::uint64_t address) {
  T value;
  if (!read_memory(address, &value, sizeof value)) return std::nullopt;
  return value;
}

}  // namespace sonde::agent::hotspot
