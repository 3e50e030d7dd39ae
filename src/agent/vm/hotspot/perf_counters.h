// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Counters that HotSpot keeps for jstat, in memory of its own (PerfMemory, version 2.0 of its
// format). There are none with -XX:-UsePerfData.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace sonde::agent::hotspot {

// A number in such memory; null if there is none of this name.
const std::int64_t* find_perf_counter(Bytes memory, std::string_view name);

// For how long all threads of this JVM have been stopped so far.
struct Stopped {
  std::int64_t times = 0;
  std::int64_t ns = 0;             // 0: the JVM does not tell
  std::int64_t collecting_ns = 0;  // the part that garbage collectors had; they may not count all of it
};
Stopped stopped_so_far();

// For how long threads were stopped since then, other than by garbage collectors. Nothing if the JVM does not tell.
std::optional<std::uint64_t> stopped_since(const Stopped& before);

// For how long the JVM's compilers have worked so far, by what they have finished; 0 if the JVM does not tell.
std::uint64_t compiled_ns_so_far();

}  // namespace sonde::agent::hotspot
