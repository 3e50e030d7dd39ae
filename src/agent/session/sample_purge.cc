// SPDX-License-Identifier: Apache-2.0
// SampleTrees when the arena is full: cold contexts go, their sums stay (papers/002, 4.3). A host that reads meanwhile
// sees SamplingInfo::purges change and reads again.
#include <algorithm>

#include "agent/session/sample_trees.h"

namespace sonde::agent {

using arena::SampleNode;

namespace {

constexpr std::uint64_t kFreedParent = 1;  // no address: what is on the list of free nodes

std::uint64_t& total_of(SampleNode& node) { return node.scratch; }

void add_to(std::uint64_t& field, std::uint64_t value) { __atomic_store_n(&field, field + value, __ATOMIC_RELAXED); }

}  // namespace

// A stack needs at most as many nodes as it has frames.
void SampleTrees::make_room(std::size_t nodes) {
  const auto room = [&] { return free_count_ + static_cast<std::size_t>(end_of_nodes_ - next_node_); };
  if (room() >= nodes || arena_.has_room(nodes * sizeof(SampleNode) * 2 + kNodesChunk)) return;
  // What is left of the last chunk and the list of free nodes are one pool from here on.
  if (nodes_ >= kFewestToPurge) purge();
}

std::vector<SampleNode*> SampleTrees::callers_first() const {
  std::vector<SampleNode*> order(roots_.begin() + 1, roots_.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::uint64_t child = order[i]->first_child; child != 0;) {
      auto* node = static_cast<SampleNode*>(arena_.pointer(child));
      order.push_back(node);
      child = node->next_sibling;
    }
  }
  return order;
}

void SampleTrees::purge() {
  const std::vector<SampleNode*> order = callers_first();
  for (SampleNode* node : order) total_of(*node) = node->samples;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if ((*node)->parent != 0) total_of(*static_cast<SampleNode*>(arena_.pointer((*node)->parent))) += total_of(**node);
  }
  // Totals shrink downwards, so cold contexts are whole subtrees.
  if (purged_id_ == 0) purged_id_ = methods_.id_of_pseudo("[purged]");
  std::uint64_t most = 1;
  while (freed_by_purging(order, most) < order.size() / 4 && most < (std::uint64_t{1} << 62)) most *= 2;
  std::uint64_t& sequence = arena_.header().sampling.purges;
  __atomic_store_n(&sequence, sequence + 1, __ATOMIC_SEQ_CST);  // odd: lists are being changed
  std::vector<SampleNode*> left;
  for (SampleNode* node : order) {
    if (node->parent == kFreedParent) continue;
    if (node->parent != 0) left.push_back(node);
    if (SampleNode* purged = purge_children(*node, most)) left.push_back(purged);
  }
  move_timeline();
  __atomic_store_n(&sequence, sequence + 1, __ATOMIC_SEQ_CST);
  std::ranges::sort(left);
  left.erase(std::unique(left.begin(), left.end()), left.end());
  rebuild_table(left);
  ++purges_;
}

// How many nodes a purge would free: the cold ones but one for each context that keeps their sums.
std::size_t SampleTrees::freed_by_purging(const std::vector<SampleNode*>& nodes, std::uint64_t most) const {
  std::size_t cold = 0;
  std::size_t keepers = 0;
  const SampleNode* last_parent = nullptr;
  for (SampleNode* node : nodes) {
    if (node->parent == 0 || total_of(*node) > most) continue;
    ++cold;
    // Siblings follow each other.
    auto* parent = static_cast<SampleNode*>(arena_.pointer(node->parent));
    if (total_of(*parent) > most && parent != last_parent) ++keepers;
    last_parent = parent;
  }
  return cold - keepers;
}

// The children that are cold become one, which is returned; null if there are none.
SampleNode* SampleTrees::purge_children(SampleNode& parent, std::uint64_t most) {
  SampleNode* purged = nullptr;
  std::vector<SampleNode*> cold;
  std::vector<SampleNode*> warm;
  for (std::uint64_t at = parent.first_child; at != 0;) {
    auto* child = static_cast<SampleNode*>(arena_.pointer(at));
    at = child->next_sibling;
    if (child->method_id == purged_id_) {
      purged = child;
    } else {
      (total_of(*child) <= most ? cold : warm).push_back(child);
    }
  }
  if (cold.empty()) return purged;
  arena_.count(Counter::kContextsPurged, cold.size());
  if (purged == nullptr) {
    purged = cold.back();
    cold.pop_back();
    release_below(*purged, arena_.address(purged));
    purged->samples = total_of(*purged);
    purged->method_id = purged_id_;
    purged->line = purged->bci = 0;
  }
  for (SampleNode* node : cold) {
    add_to(purged->activations, node->activations);
    release_below(*node, arena_.address(purged));
    add_to(purged->samples, total_of(*node));
    add_to(purged->weight_ns, node->weight_ns);
    release(*node, arena_.address(purged));
  }
  warm.push_back(purged);
  std::uint64_t next = 0;
  for (SampleNode* node : warm) {
    node->next_sibling = next;
    next = arena_.address(node);
  }
  __atomic_store_n(&parent.first_child, next, __ATOMIC_RELEASE);
  return purged;
}

// All below a node, whose time is added to the node's.
void SampleTrees::release_below(SampleNode& top, std::uint64_t kept_at) {
  std::vector<SampleNode*> pending;
  const auto push_children = [&](const SampleNode& node) {
    for (std::uint64_t at = node.first_child; at != 0;) {
      auto* child = static_cast<SampleNode*>(arena_.pointer(at));
      pending.push_back(child);
      at = child->next_sibling;
    }
  };
  push_children(top);
  top.first_child = 0;
  while (!pending.empty()) {
    SampleNode* node = pending.back();
    pending.pop_back();
    push_children(*node);
    add_to(top.weight_ns, node->weight_ns);
    arena_.count(Counter::kContextsPurged);
    release(*node, kept_at);
  }
}

void SampleTrees::release(SampleNode& node, std::uint64_t kept_at) {
  node = {};
  node.parent = kFreedParent;
  node.scratch = kept_at;
  node.next_sibling = free_ == nullptr ? 0 : arena_.address(free_);
  free_ = &node;
  ++free_count_;
}

SampleNode* SampleTrees::kept(SampleNode* node) const {
  return node != nullptr && node->parent == kFreedParent ? static_cast<SampleNode*>(arena_.pointer(node->scratch))
                                                         : node;
}

// Those without "[purged]", which no stack has.
void SampleTrees::rebuild_table(const std::vector<SampleNode*>& nodes) {
  std::ranges::fill(table_, Known{});
  nodes_ = 0;
  for (SampleNode* node : nodes) {
    if (node->method_id == purged_id_) continue;
    place(node->parent, node->method_id, node->line).node = node;
    ++nodes_;
  }
}

// What happened in a context that is gone happened in the one that stands for it.
void SampleTrees::move_timeline() {
  const std::uint64_t base = arena_.header().base_address;
  for (arena::ChunkHeader* chunk : timeline_) {
    auto* entry = reinterpret_cast<arena::TimelineEntry*>(chunk + 1);
    auto* const end = reinterpret_cast<arena::TimelineEntry*>(reinterpret_cast<std::uint8_t*>(chunk) +
                                                              chunk->used.load(std::memory_order_relaxed));
    for (; entry < end; ++entry) {
      auto* node = static_cast<SampleNode*>(arena_.pointer(base + std::uint64_t{entry->node} * sizeof(SampleNode)));
      const std::uint64_t now = arena_.address(kept(node));
      entry->node = static_cast<std::uint32_t>((now - base) / sizeof(SampleNode));
    }
  }
}

}  // namespace sonde::agent
