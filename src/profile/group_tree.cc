// SPDX-License-Identifier: Apache-2.0
#include "profile/group_tree.h"

#include <algorithm>

namespace sonde::profile {

void GroupTree::add(const std::vector<arena::Context>& contexts) {
  std::vector<std::uint32_t> path = {0};  // the nodes of the callers, by depth
  for (const arena::Context& context : contexts) {
    path.resize(context.depth);
    const std::uint32_t caller = path.back();
    const Key key = {.caller = caller, .method_id = context.method_id, .site_index = context.site_index};
    const auto [found, is_new] = by_key_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_[caller].callees.push_back(found->second);
      nodes_.push_back({.context = context, .callees = {}});
    } else {
      arena::Context& sum = nodes_[found->second].context;
      sum.calls += context.calls;
      sum.bytecodes += context.bytecodes;
    }
    path.push_back(found->second);
  }
}

void GroupTree::visit(const std::function<void(const arena::Context&)>& visit) const {
  std::vector<std::uint32_t> pending;  // the next one is the last
  const auto push_callees = [&](const Node& node) {
    const std::size_t begin = pending.size();
    pending.insert(pending.end(), node.callees.rbegin(), node.callees.rend());
    std::stable_sort(
        pending.begin() + static_cast<std::ptrdiff_t>(begin), pending.end(),
        [&](std::uint32_t a, std::uint32_t b) { return nodes_[a].context.site_index > nodes_[b].context.site_index; });
  };
  push_callees(nodes_[0]);
  while (!pending.empty()) {
    const Node& node = nodes_[pending.back()];
    pending.pop_back();
    visit(node.context);
    push_callees(node);
  }
}

}  // namespace sonde::profile
