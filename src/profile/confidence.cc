// SPDX-License-Identifier: Apache-2.0
#include "profile/confidence.h"

#include <algorithm>
#include <cmath>

namespace sonde::profile {

Interval wilson_interval(std::uint64_t part, std::uint64_t whole, double z) {
  if (whole == 0) return {0, 1};
  const auto n = static_cast<double>(whole);
  const double p = std::min(1.0, static_cast<double>(part) / n);
  const double centre = p + z * z / (2 * n);
  const double spread = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {std::max(0.0, (centre - spread) / scale), std::min(1.0, (centre + spread) / scale)};
}

}  // namespace sonde::profile
