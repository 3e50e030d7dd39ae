// SPDX-License-Identifier: Apache-2.0
// How far a share of samples may be from the share of time: Wilson's score interval of 95 %.
#pragma once

#include <cstdint>

namespace sonde::profile {

struct Interval {
  double low;  // between 0 and 1
  double high;
};

// `part` of `whole` samples; [0, 1] of none.
Interval wilson_interval(std::uint64_t part, std::uint64_t whole);

}  // namespace sonde::profile
