// SPDX-License-Identifier: Apache-2.0
#include "profile/comparison.h"

#include <algorithm>
#include <cmath>

namespace sonde::profile {

double split_p_value(std::uint64_t a, std::uint64_t b, double share_of_b) {
  const double n = static_cast<double>(a) + static_cast<double>(b);
  const double variance = n * share_of_b * (1 - share_of_b);
  if (variance <= 0) return 1;
  const double distance = std::max(0.0, std::abs(static_cast<double>(b) - n * share_of_b) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

double Comparison::change(const Amounts& amounts_a, const Amounts& amounts_b) const {
  const std::uint64_t a = amounts_a.of(metric);
  const std::uint64_t b = amounts_b.of(metric);
  if (is_normalised) {
    const double scale = static_cast<double>(whole_a.of(metric)) / static_cast<double>(whole_b.of(metric));
    return static_cast<double>(b) * scale - static_cast<double>(a);
  }
  // Not the difference of two doubles: above 2^53 that loses the last digits.
  return b >= a ? static_cast<double>(b - a) : -static_cast<double>(a - b);
}

double Comparison::p_value(const Amounts& a, const Amounts& b) const {
  if (!is_sampled()) return change(a, b) == 0 ? 1 : 0;
  const auto number_of = [](const Events& events, const Amounts& amounts) {
    return amounts.of(events.metric) / events.size;
  };
  double share_of_b = 0.5;
  if (is_normalised) {
    const auto in_b = static_cast<double>(number_of(*events_b, whole_b));
    share_of_b = in_b / (static_cast<double>(number_of(*events_a, whole_a)) + in_b);
  }
  return split_p_value(number_of(*events_a, a), number_of(*events_b, b), share_of_b);
}

}  // namespace sonde::profile
