// SPDX-License-Identifier: Apache-2.0
// What a recording may cost at most, and what is known to vary from run to run: the file sonde.toml
// (docs/user/ci.md). Read with toml++; an error names the line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/call_tree.h"

namespace sonde::gate {

// How large a value may be.
struct Bound {
  enum class Kind : std::uint8_t {
    kAtMost,    // the value itself, whatever the baseline says
    kGrowth,    // over the baseline
    kRelative,  // the same, in percent of the baseline
  };
  Kind kind = Kind::kAtMost;
  double value = 0;

  // The greatest value that keeps the bound.
  [[nodiscard]] double greatest(std::uint64_t baseline) const;
  [[nodiscard]] std::string text() const;  // "at most 100", "+100", "+2 %"
};

enum class Of : std::uint8_t { kSelf, kTotal };

// On the whole program, on each method that matches a pattern, or on the contexts that match a path.
struct Limit {
  std::string name;                       // for people; "" if it has none
  std::optional<profile::Metric> metric;  // not given: bytecodes if the recording has them, else samples
  std::string method;                     // pattern; "" if not on methods
  std::vector<std::string> context;       // patterns from the outermost inwards; other frames may lie between
  Of of = Of::kTotal;
  std::optional<Bound> soft;  // a warning
  std::optional<Bound> hard;  // a failure
  double ignore_below = 0;    // growth by less than this much of the whole, in percent, is not looked at
};

// Left out of everything, with all that it called.
struct Allowed {
  std::string thread;  // one of the two is a pattern
  std::string method;
  std::string reason;
  bool operator==(const Allowed&) const = default;
};

struct Limits {
  std::vector<Limit> limits;
  std::vector<Allowed> allowed;
};

// What holds without a file: the whole may grow by 1 %, the own work of each method too.
Limits default_limits();

Result<Limits> parse_limits(std::string_view toml);

}  // namespace sonde::gate
