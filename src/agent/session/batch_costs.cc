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
  const std::uint64_t rest_ns = paused_ns - std::min(classes * kClassNs, paused_ns);
  base_ns_ = classes <= kLeast ? rest_ns : std::min(base_ns_, rest_ns);
  const std::uint64_t limit = std::max(kPauseNs, base_ns_ + base_ns_ / 4);
  if (paused_ns > limit) {
    size_ = kLeast;  // which tells what part no batch is spared now
  } else if (classes >= size_) {
    size_ = std::min({classes + (limit - paused_ns) / kClassNs, 2 * classes, kMost});
  }
}

BatchSummary BatchCosts::summary() const {
  return {
      .batches = took_ns_.size(), .classes = classes_, .took = spread_of(took_ns_), .paused = spread_of(paused_ns_)};
}

}  // namespace sonde::agent
