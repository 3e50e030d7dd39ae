// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. How walks note frames in a sample. The caller has made sure that there is room.
#pragma once

#include <cstdint>

#include "agent/sampler/raw_sample.h"
#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/method_log.h"

namespace sonde::agent::hotspot {

inline void note_frame(RawSample& sample, FrameKind kind, std::uint64_t what, std::uint64_t value) SIGNAL_SAFE {
  sample.frames()[sample.depth++] = RawFrame::make(kind, what, value);
}

// An interpreted frame.
inline void note_method(RawSample& sample, MethodLog& log, std::uint64_t method, std::uint64_t bcp) SIGNAL_SAFE {
  const std::uint64_t place = log.place_of(method, bcp);
  if (place != 0) return note_frame(sample, FrameKind::kLogged, place, bcp);
  note_frame(sample, FrameKind::kInterpreted, method, bcp);
}

// A frame of compiled code.
inline void note_compiled(RawSample& sample, MethodLog& log, const CodeCache& cache, std::uint64_t nmethod,
                          std::uint64_t pc, FrameKind kind = FrameKind::kCompiled) SIGNAL_SAFE {
  const std::uint32_t compile_id = cache.compile_id(nmethod);
  log.note_compilation(compile_id, cache.method(nmethod));
  note_frame(sample, kind, pc, compile_id);
}

}  // namespace sonde::agent::hotspot
