// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. Turns the numbers that a handler wrote into methods.
#pragma once

#include <vector>

#include "agent/sampler/raw_sample.h"
#include "agent/session/sample_trees.h"

namespace sonde::agent {

// A place on a thread's stack. Two samples that have the same mark have the same callers from there on.
struct StackMark {
  std::uint64_t sp;
  std::uint64_t pc;      // of the frame that begins there, as the walker noted it
  std::uint32_t frames;  // on this side of it: further in when it was decoded, further out when it is kept
  [[nodiscard]] bool is_same_place(const StackMark& other) const { return sp == other.sp && pc == other.pc; }
};

class StackDecoder {
 public:
  virtual ~StackDecoder() = default;
  // Appends the sample's frames, innermost first, and the marks between them.
  virtual void decode(const RawSample& sample, std::vector<StackFrame>& frames, std::vector<StackMark>& marks) = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace sonde::agent
