// SPDX-License-Identifier: Apache-2.0
#include "profile/confidence.h"

#include <algorithm>
#include <cmath>

namespace sonde::profile {

Interval wilson_interval(double part, double whole, double z) {
  if (whole <= 0) return {0, 1};
  const double n = whole;
  const double p = std::min(1.0, part / n);
  const double centre = p + z * z / (2 * n);
  const double spread = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {std::max(0.0, (centre - spread) / scale), std::min(1.0, (centre + spread) / scale)};
}

double independent_samples(std::uint64_t samples, std::uint64_t counts_squared) {
  const auto n = static_cast<double>(samples);
  return counts_squared == 0 ? n : n * n / static_cast<double>(counts_squared);
}

}  // namespace sonde::profile
