// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. Turns the numbers that a handler wrote into methods.
#pragma once

#include <span>
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
  // Appends what the innermost entries of a stack stand for, innermost first, and for each entry how many frames those
  // are: inlined methods have one entry together, marks have no frame.
  virtual void decode(const RawSample& sample, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
                      std::vector<std::uint16_t>& counts) = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace sonde::agent
