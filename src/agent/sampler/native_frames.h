// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. Finds the frames outside of Java: `cpu,native`.
#pragma once

#include <vector>

#include "agent/sampler/raw_sample.h"
#include "agent/session/sample_trees.h"

namespace sonde::agent {

struct StackBounds {
  std::uint64_t low;
  std::uint64_t high;
};

class NativeFrames {
 public:
  virtual ~NativeFrames() = default;
  // Appends the native frames of a sample, innermost first, and returns how many.
  virtual std::size_t unwind(const RawSample& sample, std::vector<StackFrame>& frames) = 0;
  // Of the stack that an address lies in.
  virtual StackBounds bounds_of(std::uint64_t stack_pointer) = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace sonde::agent
