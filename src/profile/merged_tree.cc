// SPDX-License-Identifier: Apache-2.0
#include "profile/merged_tree.h"

#include <algorithm>

namespace sonde::profile {

std::vector<std::uint32_t> MergedTree::children(std::uint32_t node, Metric metric) const {
  std::vector<std::uint32_t> result;
  const auto end = node == kNone ? static_cast<std::uint32_t>(nodes.size()) : nodes[node].end;
  for (std::uint32_t child = node + 1; child < end; child = nodes[child].end) result.push_back(child);  // kNone + 1 = 0
  std::stable_sort(result.begin(), result.end(), [&](std::uint32_t a, std::uint32_t b) {
    return nodes[a].sum.total.of(metric) > nodes[b].sum.total.of(metric);
  });
  return result;
}

MergedTree merged_tree(const Profile& profile, const std::vector<const Thread*>& threads, const Labels& labels) {
  MergedTree tree;
  std::vector<std::uint32_t> open;
  const auto leave = [&] {
    MergedTree::Node& done = tree.nodes[open.back()];
    open.pop_back();
    done.end = static_cast<std::uint32_t>(tree.nodes.size());
    if (!open.empty()) tree.nodes[open.back()].sum.total += done.sum.total;
  };
  merge(profile, threads, labels, [&](const MergedNode& node) {
    while (open.size() > node.depth) leave();
    open.push_back(static_cast<std::uint32_t>(tree.nodes.size()));
    Sum sum = {.self = node.self, .total = node.self};
    sum.total += node.hidden;
    tree.nodes.push_back({.depth = node.depth, .label = node.label, .end = 0, .sum = sum});
  });
  while (!open.empty()) leave();
  return tree;
}

}  // namespace sonde::profile
