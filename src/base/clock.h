// SPDX-License-Identifier: Apache-2.0
// The time, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

#include "base/signal_safe.h"

namespace sonde {

// 0 if there is no such clock, as of a thread that has ended.
inline std::uint64_t clock_ns(clockid_t clock) SIGNAL_SAFE {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }  // since 1970
inline std::uint64_t monotonic_ns() SIGNAL_SAFE { return clock_ns(CLOCK_MONOTONIC); }
inline std::uint64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace sonde
