// SPDX-License-Identifier: Apache-2.0
#include "agent/session/batch_costs.h"

#include <algorithm>
#include <numeric>

namespace sonde::agent {
namespace {

Spread spread_of(std::vector<std::uint64_t> values) {
  if (values.empty()) return {};
  const auto p99 = values.begin() + static_cast<std::ptrdiff_t>((values.size() * 99 + 99) / 100 - 1);
  std::ranges::nth_element(values, p99);
  return {.total = std::accumulate(values.begin(), values.end(), std::uint64_t{0}),
          .p99 = *p99,
          .longest = std::ranges::max(values)};
}

}  // namespace

void BatchCosts::note(std::size_t classes, std::uint64_t took_ns, std::uint64_t paused_ns) {
  took_ns_.push_back(took_ns);
  paused_ns_.push_back(paused_ns);
  classes_ += classes;
  // A pause is never shorter than the part that no batch is spared, and hardly longer if the batch is small.
  base_ns_ = classes <= kLeast ? paused_ns : std::min(base_ns_, paused_ns);
  const std::uint64_t limit = std::max(kPauseNs, base_ns_ + base_ns_ / 4);
  const std::size_t fitting = classes * limit / std::max<std::uint64_t>(paused_ns, 1);
  if (paused_ns > limit) {
    size_ = std::max(std::min(fitting, classes / 2), kLeast);  // and soon it shows what a small one takes now
  } else if (classes >= size_) {
    size_ = std::clamp(fitting, kLeast, std::min(2 * size_, kMost));
  }
}

BatchSummary BatchCosts::summary() const {
  return {
      .batches = took_ns_.size(), .classes = classes_, .took = spread_of(took_ns_), .paused = spread_of(paused_ns_)};
}

}  // namespace sonde::agent
