// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. Turns the numbers that a handler wrote into methods.
#pragma once

#include <vector>

#include "agent/sampler/raw_sample.h"
#include "agent/session/sample_trees.h"

namespace sonde::agent {

class StackDecoder {
 public:
  virtual ~StackDecoder() = default;
  // Appends the sample's frames, innermost first.
  virtual void decode(const RawSample& sample, std::vector<StackFrame>& frames) = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace sonde::agent
