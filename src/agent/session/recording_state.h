// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. When a recording began and ended, as its arena says it.
#pragma once

#include "arena/writer.h"
#include "base/clock.h"

namespace sonde::agent {

inline void mark_running(arena::Writer& arena) {
  if (arena.header().start_ns == 0) arena.header().start_ns = realtime_ns();
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
}

inline void mark_ended(arena::Writer& arena) {
  arena.header().end_ns = realtime_ns();
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kEnded));
}

}  // namespace sonde::agent
