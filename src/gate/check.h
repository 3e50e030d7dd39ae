// SPDX-License-Identifier: Apache-2.0
// A recording against a baseline and limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "gate/baseline.h"
#include "gate/growth.h"
#include "gate/limits.h"
#include "profile/profile.h"

namespace sonde::gate {

enum class Verdict : std::uint8_t { kKept, kSoft, kHard };

// A value that breaks a bound.
struct Finding {
  std::size_t limit;  // index into Limits::limits
  Verdict verdict;
  std::string subject;  // "the whole program", "com.acme.Cart.total(I)I", "Main.main > Map.get"
  profile::Metric metric;
  Of of;
  std::uint64_t baseline;
  std::uint64_t value;
  Bound bound;              // the one that is broken
  bool is_new = false;      // not in the baseline, or too small for it
  std::vector<Frame> path;  // where most of the growth is, outermost first; may be empty
};

struct CheckResult {
  Verdict verdict = Verdict::kKept;
  std::vector<Finding> findings;         // worst first
  std::vector<std::uint64_t> values;     // by limit: how many it was held against
  std::vector<profile::Metric> metrics;  // that both have
  profile::Amounts baseline_sum;
  profile::Amounts sum;
  bool is_other_jdk = false;  // than that of the baseline
};

// `profile` is the whole recording. An error if the two cannot be compared.
Result<CheckResult> check(const profile::Profile& profile, const Baseline& baseline, const Limits& limits);

}  // namespace sonde::gate
