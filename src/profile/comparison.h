// SPDX-License-Identifier: Apache-2.0
// How two amounts of one metric, from recordings A and B, are compared: as they are, or as shares of their recordings.
// Exact numbers need no test, every difference is one. Samples are counts of random events: their differences come
// with the probability of seeing one at least as large if nothing had changed.
#pragma once

#include <cstdint>
#include <optional>

#include "profile/sums.h"

namespace sonde::profile {

inline constexpr double kSignificance = 0.01;  // a difference less probable than this is no noise

struct Comparison {
  Metric metric = Metric::kBytecodes;
  Amounts whole_a = {};  // of the two recordings
  Amounts whole_b = {};
  bool is_normalised = false;  // shares are compared; the wholes must not be 0
  // The random events behind the metric, if there are any, in A and in B.
  std::optional<Events> events_a = {};
  std::optional<Events> events_b = {};

  [[nodiscard]] bool is_sampled() const { return events_a && events_b; }
  // B minus A; if normalised, in units of A: as if the wholes were equal.
  [[nodiscard]] double change(const Amounts& a, const Amounts& b) const;
  // Of exact numbers 0 if they differ, else 1.
  [[nodiscard]] double p_value(const Amounts& a, const Amounts& b) const;
  [[nodiscard]] bool is_significant(const Amounts& a, const Amounts& b) const { return p_value(a, b) < kSignificance; }
};

// The probability of a split of a + b events at least as uneven as this, if each falls to B with probability
// `share_of_b`. Poisson counts, given their sum, are binomial; that is approximated by a normal distribution with the
// correction for continuity, which errs towards "may be noise" where counts are small.
double split_p_value(std::uint64_t a, std::uint64_t b, double share_of_b);

}  // namespace sonde::profile
