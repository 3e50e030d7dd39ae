// SPDX-License-Identifier: Apache-2.0
// How deterministic sampling was asked for (docs/user/bytecode.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "classfile/opcode_weights.h"
#include "instrument/sampling_pass.h"

namespace sonde::agent {

struct SamplingOptions {
  std::uint64_t granularity = 0;  // bytecodes from one sample to the next; 0: everything is counted instead
  std::uint64_t jitter = 0;       // up to so many more, less one, at random
  std::uint64_t seed = 0;
  std::uint32_t max_path = 0;  // frames of a context that are kept; 0: all
  instrument::ContextFrom context = instrument::ContextFrom::kShadowStack;
  std::string weights_text;  // as the user gave it; "": each bytecode counts as one
  std::optional<classfile::OpcodeWeights> weights;

  [[nodiscard]] bool is_on() const { return granularity != 0; }
  // Apart from weights.
  [[nodiscard]] bool is_like(const SamplingOptions& other) const {
    return granularity == other.granularity && jitter == other.jitter && seed == other.seed &&
           max_path == other.max_path && context == other.context;
  }
  // So many of what is counted are one bytecode.
  [[nodiscard]] std::uint64_t scale() const { return weights ? weights->scale() : 1; }
  // There is no shadow stack: samples look at the JVM's own, or those of them that do not know where they are.
  [[nodiscard]] bool asks_jvm() const { return context != instrument::ContextFrom::kShadowStack; }
  [[nodiscard]] bool traps() const {
    return context == instrument::ContextFrom::kJvmByTrap || context == instrument::ContextFrom::kHashByTrap;
  }
  [[nodiscard]] bool hashes() const {
    return context == instrument::ContextFrom::kHash || context == instrument::ContextFrom::kHashByTrap;
  }
};

}  // namespace sonde::agent
