// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. Walks the frames of a virtual thread that lie in the heap. Collectors may move objects meanwhile:
// see heap_reader.h.
#pragma once

#include "agent/sampler/raw_sample.h"
#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/frozen_frames.h"
#include "agent/vm/hotspot/method_log.h"

namespace sonde::agent::hotspot {

class FrozenWalk {
 public:
  // What calls Continuation.doYield is in the heap already when that leaves the stack some instructions later. If it
  // was interrupted, this is where it was called; else 0.
  FrozenWalk(const FrozenLayout& frozen, HeapReader& heap, const CodeCache& cache, MethodLog& methods,
             RawSample& sample, std::uint64_t yields_to) SIGNAL_SAFE : frozen_(frozen),
                                                                       heap_(heap),
                                                                       cache_(cache),
                                                                       methods_(methods),
                                                                       sample_(sample),
                                                                       yields_to_(yields_to) {}

  // All chunks of a continuation, innermost first. False if not all of them can be read; frames noted until then are
  // right.
  bool run(std::uint64_t continuation) SIGNAL_SAFE;
  // Of the continuation that a thread's object, to which this refers, knows as its innermost.
  bool run_of_thread(std::uint64_t thread_object) SIGNAL_SAFE;

 private:
  [[nodiscard]] bool read_oop(std::uint64_t address, std::uint64_t& oop) SIGNAL_SAFE;
  [[nodiscard]] bool is_object(std::uint64_t oop) const SIGNAL_SAFE;
  bool walk_chunk(std::uint64_t chunk) SIGNAL_SAFE;

  const FrozenLayout& frozen_;
  HeapReader& heap_;
  const CodeCache& cache_;
  MethodLog& methods_;
  RawSample& sample_;
  const std::uint64_t yields_to_;
};

}  // namespace sonde::agent::hotspot
