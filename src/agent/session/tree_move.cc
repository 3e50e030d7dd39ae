// SPDX-License-Identifier: Apache-2.0
#include "agent/session/tree_move.h"

#include <atomic>
#include <cstddef>

namespace sonde::agent {

using arena::CallSite;
using arena::ExtraCallSite;
using arena::Node;

namespace {

// Calls and bytecodes lie side by side, at the same offset in both.
constexpr std::uint64_t kCountsOffset = offsetof(Node, calls);
static_assert(offsetof(CallSite, child) == kCountsOffset);
static_assert(offsetof(CallSite, bytecodes) == kCountsOffset + 8 && offsetof(Node, bytecodes) == kCountsOffset + 8);

// The host may read at any moment: words are stored whole and in this order.
template <typename T>
void store(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

}  // namespace

bool TreeMove::run(arena::TreeHeader& member) {
  pending_.push_back({.from = at<Node>(member.root), .to = at<Node>(group_.root)});
  while (!pending_.empty()) {
    const Pair nodes = pending_.back();
    pending_.pop_back();
    move_counts(&nodes.from->calls, &nodes.to->calls);
    if (!move_callees(nodes)) return false;
  }
  return true;
}

bool TreeMove::move_callees(const Pair& nodes) {
  CallSite* sites = TreeWriter::sites_of(*nodes.from);
  for (std::uint32_t i = 0; i < nodes.from->site_count; ++i) {
    if (sites[i].method_id != 0 && !move_callee(sites[i], *nodes.to, i)) return false;
  }
  for (std::uint64_t address = nodes.from->extras; address != 0;) {
    auto* extra = at<ExtraCallSite>(address);
    const auto index = static_cast<std::uint32_t>(at<CallSite>(extra->of) - sites);
    if (!move_callee(extra->site, *nodes.to, index)) return false;
    address = extra->next;
  }
  return true;
}

bool TreeMove::move_callee(CallSite& from, Node& caller, std::uint32_t site_index) {
  const bool has_node = !methods_.has_no_node(static_cast<std::uint32_t>(from.method_id));
  if (has_node && from.bytecodes != 0) return true;  // an alias (arena::Alias): the node hangs elsewhere
  Node* callee = has_node ? at<Node>(from.child) : nullptr;
  const std::uint32_t site_count = has_node ? callee->site_count : TreeWriter::kNoNode;
  CallSite* to = to_.find_or_add(caller, site_index, from.method_id, site_count);
  if (to == nullptr) return false;
  if (has_node) {
    pending_.push_back({.from = callee, .to = &to_.callee_of(*to)});
  } else {
    move_counts(&from.child, &to->child);
  }
  return true;
}

void TreeMove::move_counts(std::uint64_t* from, std::uint64_t* to) {
  if (from[0] == 0 && from[1] == 0) return;
  arena::Move& move = group_.move;
  store(move.source, arena_.address(from) - kCountsOffset);
  store(move.target, arena_.address(to) - kCountsOffset);
  store(move.calls, to[0] + from[0]);
  store(move.bytecodes, to[1] + from[1]);
  store(move.sequence, move.sequence + 1);
  store(to[0], move.calls);
  store(to[1], move.bytecodes);
  store(from[0], std::uint64_t{0});
  store(from[1], std::uint64_t{0});
  store(move.sequence, move.sequence + 1);
}

}  // namespace sonde::agent
