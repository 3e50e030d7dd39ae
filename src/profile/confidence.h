// SPDX-License-Identifier: Apache-2.0
// How far a share of samples may be from the share of time: Wilson's score interval. It takes samples for independent,
// which they are not quite: with 95 %, 91 to 95 of 100 recordings had the true share in it (docs/design/0006). So it is
// that of 99 %, and 95 of 100 can be relied upon.
#pragma once

#include <cstdint>

namespace sonde::profile {

struct Interval {
  double low;  // between 0 and 1
  double high;
};

inline constexpr double kSure = 2.575829;  // 99 % of a normal distribution lie within so many standard deviations

// `part` of `whole` samples; [0, 1] of none.
Interval wilson_interval(double part, double whole, double z = kSure);

// How many samples that stand for one each tell as much as `samples` do, whose counts squared add up to
// `counts_squared` (Kish's effective size of a sample). 0 counts squared: nobody knows, as many.
double independent_samples(std::uint64_t samples, std::uint64_t counts_squared);

}  // namespace sonde::profile
