// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. When a recording began and ended, as its arena says it.
#pragma once

#include <time.h>

#include <cstdint>

#include "arena/writer.h"

namespace sonde::agent {

inline std::uint64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inline void mark_running(arena::Writer& arena) {
  if (arena.header().start_ns == 0) arena.header().start_ns = realtime_ns();
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
}

inline void mark_ended(arena::Writer& arena) {
  arena.header().end_ns = realtime_ns();
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kEnded));
}

}  // namespace sonde::agent
