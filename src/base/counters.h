// SPDX-License-Identifier: Apache-2.0
// The list of all counters (counters.def) as an enum and a table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sonde {

enum class Severity : std::uint8_t { info, loss, error };

enum class Counter : std::uint16_t {
#define SONDE_COUNTER(id, name, severity, sentence) k##name,
#include "base/counters.def"
#undef SONDE_COUNTER
  kCount
};

struct CounterInfo {
  std::uint16_t id;  // stable across versions, unlike the enum's value
  std::string_view name;
  Severity severity;
  std::string_view sentence;
};

inline constexpr std::array<CounterInfo, static_cast<std::size_t>(Counter::kCount)> kCounters = {{
#define SONDE_COUNTER(id, name, severity, sentence) {id, #name, Severity::severity, sentence},
#include "base/counters.def"
#undef SONDE_COUNTER
}};

constexpr const CounterInfo& info_of(Counter counter) { return kCounters[static_cast<std::size_t>(counter)]; }

}  // namespace sonde
