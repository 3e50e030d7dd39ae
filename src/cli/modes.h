// SPDX-License-Identifier: Apache-2.0
// What `--mode` asks for: one or more kinds of recording, separated by commas, some with an interval.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/bytecode_mode.h"
#include "cli/subgraph_mode.h"

namespace sonde::cli {

struct Modes {
  bool exact = false;
  bool flat = false;  // exact, but without contexts
  std::optional<BytecodeMode> bytecode;
  std::optional<SubgraphMode> subgraph;  // or a region
  std::uint64_t cpu_interval_ns = 0;     // 0: not asked for
  std::uint64_t wall_interval_ns = 0;    // 0: not asked for
  bool native = false;                   // with frames outside of Java

  // Classes are rewritten as they are loaded.
  [[nodiscard]] bool is_instrumented() const { return exact || bytecode; }
  // By time.
  [[nodiscard]] bool is_sampled() const { return cpu_interval_ns != 0 || wall_interval_ns != 0; }
};

// "exact", "exact:flat", "cpu", "cpu:1ms,wall:10ms", "exact,cpu:500us", "cpu,native",
// "bytecode:granularity=500,seed=2,cpu".
Result<Modes> parse_modes(const std::string& text);

// "1ms", "500us", "100000ns", "1s"; 0 if it makes no sense.
std::uint64_t parse_duration_ns(const std::string& text);

}  // namespace sonde::cli
