// SPDX-License-Identifier: Apache-2.0
// `--mode bytecode[:granularity=N,jitter=R,seed=S,maxpath=P]`: what `sonde run` was asked to sample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::cli {

struct BytecodeMode {
  std::uint64_t granularity = 10'000;
  std::uint64_t jitter = 100;
  std::uint64_t seed = 1;
  std::uint64_t max_path = 0;
  std::string context = "auto";  // or "shadow", "jvm", "hash", "jvm-trap", "hash-trap": who knows the stack

  [[nodiscard]] bool has_traps() const { return context.ends_with("-trap"); }
  // Unless samples are frequent, to look at the JVM's stack is cheaper than to have each call hand on where it comes
  // from. If they, or contexts that are new, are rare, traps are cheaper than calls; with hashes the agent itself goes
  // on with calls where there are too many contexts (docs/design/0005-deterministic-sampling.md).
  [[nodiscard]] std::string context_source(bool can_trap) const {
    if (context != "auto") return context;
    if (granularity < 10'000) return can_trap ? "hash-trap" : "hash";
    return can_trap && granularity >= 1'000'000 ? "jvm-trap" : "jvm";
  }
};

[[nodiscard]] bool is_bytecode_mode(std::string_view mode);
Result<BytecodeMode> parse_bytecode_mode(std::string_view mode);

}  // namespace sonde::cli
