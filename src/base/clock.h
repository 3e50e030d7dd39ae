// SPDX-License-Identifier: Apache-2.0
// The time, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace sonde {

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }  // since 1970
inline std::uint64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace sonde
