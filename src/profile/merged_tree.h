// SPDX-License-Identifier: Apache-2.0
// The merged call tree of some threads as a table, with totals.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/merge.h"
#include "profile/sums.h"

namespace sonde::profile {

struct MergedTree {
  struct Node {
    std::uint32_t depth;
    std::uint32_t label;
    std::uint32_t end;  // of its subtree, in `nodes`
    Sum sum;
  };
  std::vector<Node> nodes;  // preorder

  // The callees of a node (of all threads together: of no node), greatest total first; equal ones by label.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t node, Metric metric) const;
};

MergedTree merged_tree(const Profile& profile, const std::vector<const Thread*>& threads, const Labels& labels);

}  // namespace sonde::profile
