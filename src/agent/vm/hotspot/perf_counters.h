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
  std::int64_t ns = 0;             // from when all stood still until the VM thread has woken them; 0: it does not tell
  std::int64_t reaching_ns = 0;    // before that: threads stop one after the other
  std::int64_t operations_ns = 0;  // what the VM thread worked meanwhile and while threads ran; 0: it does not tell
  std::int64_t collecting_ns = 0;  // the part that garbage collectors had; they may not count all of it
};
Stopped stopped_so_far();

// For how long threads were stopped between the two, other than by garbage collectors. The JVM lets threads go and then
// looks at the clock; where they share a processor with it, they may run for a while before it does, which is no pause.
// Nothing if the JVM does not tell.
std::optional<std::uint64_t> stopped_between(const Stopped& before, const Stopped& now);

// For how long the JVM's compilers have worked so far, by what they have finished; 0 if the JVM does not tell.
std::uint64_t compiled_ns_so_far();

}  // namespace sonde::agent::hotspot
