// SPDX-License-Identifier: Apache-2.0
// How deterministic sampling was asked for (docs/user/bytecode.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "classfile/opcode_weights.h"

namespace sonde::agent {

struct SamplingOptions {
  std::uint64_t granularity = 0;  // bytecodes from one sample to the next; 0: everything is counted instead
  std::uint64_t jitter = 0;       // up to so many more, less one, at random
  std::uint64_t seed = 0;
  std::uint32_t max_path = 0;     // frames of a context that are kept; 0: all
  bool context_from_jvm = false;  // no shadow stack: samples look at the JVM's own
  std::string weights_text;       // as the user gave it; "": each bytecode counts as one
  std::optional<classfile::OpcodeWeights> weights;

  [[nodiscard]] bool is_on() const { return granularity != 0; }
  // Apart from weights.
  [[nodiscard]] bool is_like(const SamplingOptions& other) const {
    return granularity == other.granularity && jitter == other.jitter && seed == other.seed &&
           max_path == other.max_path && context_from_jvm == other.context_from_jvm;
  }
  // So many of what is counted are one bytecode.
  [[nodiscard]] std::uint64_t scale() const { return weights ? weights->scale() : 1; }
  [[nodiscard]] bool asks_jvm() const { return context_from_jvm; }
};

}  // namespace sonde::agent
