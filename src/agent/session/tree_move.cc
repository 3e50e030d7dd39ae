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

CallSite* sites_of(Node& node) { return reinterpret_cast<CallSite*>(&node + 1); }

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
  CallSite* sites = sites_of(*nodes.from);
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
  CallSite& site = sites_of(caller)[site_index];
  CallSite* to = site.method_id == from.method_id ? &site : nullptr;
  if (to == nullptr && site.method_id != 0) to = extras_.at(&site, from.method_id);
  if (to == nullptr) to = add(caller, site, from.method_id, callee);
  if (to == nullptr) return false;
  if (has_node) {
    pending_.push_back({.from = callee, .to = at<Node>(to->child)});
  } else {
    move_counts(&from.child, &to->child);
  }
  return true;
}

// As SondeRT does it: filled first, published last.
CallSite* TreeMove::add(Node& caller, CallSite& site, std::int32_t method_id, const Node* callee) {
  const bool is_taken = site.method_id != 0;
  const std::uint64_t size = callee != nullptr ? arena::node_size(callee->site_count) : 0;
  auto* memory = static_cast<std::uint8_t*>(allocate(size + (is_taken ? sizeof(ExtraCallSite) : 0)));
  if (memory == nullptr) return nullptr;
  auto* extra = is_taken ? reinterpret_cast<ExtraCallSite*>(memory + size) : nullptr;
  CallSite* record = is_taken ? &extra->site : &site;
  if (callee != nullptr) {
    auto* node = reinterpret_cast<Node*>(memory);
    node->method_id = method_id;
    node->site_count = callee->site_count;
    node->depth = callee->depth;
    for (std::uint32_t i = 0; i < node->site_count; ++i) {
      sites_of(*node)[i].node_offset = static_cast<std::int32_t>(sizeof(Node) + i * sizeof(CallSite));
    }
    node->parent_site = arena_.address(record);
    record->child = arena_.address(node);
  }
  ++group_.nodes;
  if (is_taken) {
    record->method_id = method_id;
    extra->next = caller.extras;
    extra->of = arena_.address(&site);
    store(caller.extras, arena_.address(extra));
    extras_.at(&site, method_id) = record;
  } else {
    store(record->method_id, method_id);
  }
  return record;
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

// Zeroed memory in the group's chunk.
void* TreeMove::allocate(std::uint64_t size) {
  if (group_.next + size > group_.end && !grow_(static_cast<std::uint32_t>(size))) return nullptr;
  void* memory = arena_.pointer(group_.next);
  group_.next += size;
  return memory;
}

}  // namespace sonde::agent
