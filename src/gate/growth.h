// SPDX-License-Identifier: Apache-2.0
// Where a recording grew over a baseline, by context. The baseline holds no small contexts: of one that is not in it is
// only known that it was below the bound of folding, so growth counts from that bound on.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "gate/baseline.h"
#include "gate/limits.h"
#include "profile/diff.h"

namespace sonde::gate {

struct Frame {
  std::string name;         // "java.util.Map.get"
  std::int64_t growth = 0;  // of its total, as far as it is certain
};

struct ContextSums {
  profile::Amounts before;
  profile::Amounts now;
  bool is_in_baseline = false;
};

class Growth {
 public:
  Growth(const Baseline& baseline, const profile::Profile& profile);

  // Of the contexts that match; of totals, those of the outermost ones.
  [[nodiscard]] ContextSums sums_of(const std::vector<std::string>& patterns, Of of) const;

  // From the outermost frame to where most of the growth is.
  [[nodiscard]] std::vector<Frame> path_of_all(profile::Metric metric) const;
  [[nodiscard]] std::vector<Frame> path_of_method(std::string_view full_name, profile::Metric metric, Of of) const;
  [[nodiscard]] std::vector<Frame> path_of_context(const std::vector<std::string>& patterns, profile::Metric metric,
                                                   Of of) const;

 private:
  using IsChosen = std::function<bool(std::uint32_t node)>;

  [[nodiscard]] std::int64_t growth_of(std::uint32_t node, profile::Metric metric, Of of) const;
  [[nodiscard]] bool matches(std::uint32_t node, const std::vector<std::string>& patterns) const;
  [[nodiscard]] std::vector<Frame> path_of_greatest(const IsChosen& is_chosen, profile::Metric metric, Of of) const;
  // Goes on into the callee that has most of the growth, as long as there is one.
  void descend(std::uint32_t begin, std::uint32_t end, std::int64_t growth, profile::Metric metric,
               std::vector<std::uint32_t>& path) const;
  [[nodiscard]] std::vector<Frame> frames_of(const std::vector<std::uint32_t>& path, profile::Metric metric) const;

  const Baseline& baseline_;
  profile::Labels labels_;
  profile::DiffTree tree_;
};

}  // namespace sonde::gate
