// SPDX-License-Identifier: Apache-2.0
// What the order of a flow graph's blocks says: dominators and loops.
#include <algorithm>

#include "classfile/cfg.h"

namespace sonde::classfile {

// Depth first from the entry, without recursion: work_ is the path, cursor_ the next edge of each block on it. Gives
// order_ and, for the dominators, the tree of the walk in preorder.
void ControlFlowGraph::order_blocks() {
  walk_number_.assign(blocks_.size(), kUnreached);
  walk_.clear();
  work_.clear();
  cursor_.assign(blocks_.size(), 0);
  const auto enter = [this](BlockId id, std::uint32_t parent) {
    blocks_[id.value()].is_reachable = true;
    const auto number = static_cast<std::uint32_t>(walk_.size());
    walk_number_[id.value()] = number;
    walk_.push_back({.block = id, .parent = parent, .semidominator = number, .best = number});
    work_.push_back(id);
  };
  enter(BlockId(0), kUnreached);
  while (!work_.empty()) {
    const BlockId id = work_.back();
    const Block& from = block(id);
    std::uint32_t& taken = cursor_[id.value()];
    if (taken == from.successor_count + from.handler_count) {
      order_.push_back(id);
      work_.pop_back();
      continue;
    }
    const BlockId to = edges_[from.first_edge + taken++].to;
    if (!block(to).is_reachable) enter(to, walk_number_[id.value()]);
  }
  std::reverse(order_.begin(), order_.end());
  position_.assign(blocks_.size(), kUnreached);
  for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i].value()] = i;
}

// Lengauer and Tarjan, the simple version: O(edges × log blocks) whatever the graph. The iteration of Cooper, Harvey
// and Kennedy is shorter and as fast on real methods, but one method of 64 KiB can be made to take it seconds
// (measured: 1.7 s, against 10 ms here), and an agent cannot choose which classes are loaded.
void ControlFlowGraph::find_dominators() {
  for (auto w = static_cast<std::uint32_t>(walk_.size() - 1); w > 0; --w) {
    WalkNode& node = walk_[w];
    for (const Edge& edge : predecessors(node.block)) {
      const std::uint32_t from = walk_number_[edge.from.value()];
      if (from == kUnreached) continue;
      node.semidominator = std::min(node.semidominator, walk_[best_above(from)].semidominator);
    }
    WalkNode& semidominator = walk_[node.semidominator];
    node.next_in_bucket = semidominator.bucket;
    semidominator.bucket = w;
    node.ancestor = node.parent;
    WalkNode& parent = walk_[node.parent];
    for (std::uint32_t v = parent.bucket; v != kUnreached; v = walk_[v].next_in_bucket) {
      const std::uint32_t best = best_above(v);
      walk_[v].dominator = walk_[best].semidominator < walk_[v].semidominator ? best : node.parent;
    }
    parent.bucket = kUnreached;
  }
  dominator_.assign(order_.size(), 0);
  for (std::size_t w = 1; w < walk_.size(); ++w) {
    WalkNode& node = walk_[w];
    if (node.dominator != node.semidominator) node.dominator = walk_[node.dominator].dominator;
    dominator_[position_[node.block.value()]] = position_[walk_[node.dominator].block.value()];
  }
}

// The node with the smallest semidominator on the way from `v` up to, but not including, the root of its tree in the
// forest of finished nodes. Shortens the way for the next question.
std::uint32_t ControlFlowGraph::best_above(std::uint32_t v) {
  if (walk_[v].ancestor == kUnreached) return v;
  cursor_.clear();  // nodes whose ancestor is no root
  for (std::uint32_t at = v; walk_[walk_[at].ancestor].ancestor != kUnreached; at = walk_[at].ancestor)
    cursor_.push_back(at);
  while (!cursor_.empty()) {
    WalkNode& node = walk_[cursor_.back()];
    cursor_.pop_back();
    const WalkNode& above = walk_[node.ancestor];
    if (walk_[above.best].semidominator < walk_[node.best].semidominator) node.best = above.best;
    node.ancestor = above.ancestor;
  }
  return walk_[v].best;
}

// Preorder numbers make dominates() two comparisons. A dominator comes before what it dominates in order_, so one walk
// backwards adds up the subtrees and one forwards hands out the numbers.
void ControlFlowGraph::number_dominator_tree() {
  tree_size_.assign(order_.size(), 1);
  for (std::size_t i = order_.size() - 1; i > 0; --i) tree_size_[dominator_[i]] += tree_size_[i];
  tree_begin_.assign(order_.size(), 0);
  cursor_.assign(order_.size(), 1);  // where the next child starts
  for (std::size_t i = 1; i < order_.size(); ++i) {
    std::uint32_t& next_child = cursor_[dominator_[i]];
    tree_begin_[i] = next_child;
    next_child += tree_size_[i];
    cursor_[i] = tree_begin_[i] + 1;
  }
}

BlockId ControlFlowGraph::immediate_dominator(BlockId id) const {
  const std::uint32_t position = position_[id.value()];
  return position == kUnreached || position == 0 ? kNoBlock : order_[dominator_[position]];
}

bool ControlFlowGraph::dominates(BlockId a, BlockId b) const {
  const std::uint32_t above = position_[a.value()];
  const std::uint32_t below = position_[b.value()];
  if (above == kUnreached || below == kUnreached) return false;
  return tree_begin_[below] - tree_begin_[above] < tree_size_[above];  // wraps to something large if it is before
}

void ControlFlowGraph::find_retreating_edges() {
  for (const Edge& edge : edges_) {
    const std::uint32_t from = position_[edge.from.value()];
    if (from == kUnreached || position_[edge.to.value()] > from) continue;
    if (edge.kind == EdgeKind::kCatch && edge.from == edge.to) continue;
    (dominates(edge.to, edge.from) ? back_edges_ : irreducible_edges_).push_back(edge);
  }
}

// Inner loops first, each then collapsed into its header, so that no block is visited once per loop around it.
void ControlFlowGraph::find_loops() {
  loop_of_.assign(blocks_.size(), kNoLoop);
  if (back_edges_.empty()) return;
  collapsed_into_.resize(blocks_.size());
  for (BlockId id(0); id.value() < blocks_.size(); id = next(id)) collapsed_into_[id.value()] = id;
  for (const Edge& edge : back_edges_) loops_.push_back({.header = edge.to});
  const auto position = [this](const Loop& loop) { return position_[loop.header.value()]; };
  std::sort(loops_.begin(), loops_.end(), [&](const Loop& a, const Loop& b) { return position(a) < position(b); });
  const auto same = [](const Loop& a, const Loop& b) { return a.header == b.header; };
  loops_.erase(std::unique(loops_.begin(), loops_.end(), same), loops_.end());
  for (std::size_t i = loops_.size(); i-- > 0;) fill_loop(LoopId(static_cast<std::uint16_t>(i)));
  for (Loop& loop : loops_) {
    if (loop.parent != kNoLoop) loop.depth = static_cast<std::uint16_t>(loops_[loop.parent.value()].depth + 1);
  }
}

// Everything that reaches a back edge without passing the header. Being dominated by the header, it is all reachable,
// and the walk cannot get past the header.
void ControlFlowGraph::fill_loop(LoopId id) {
  const BlockId header = loops_[id.value()].header;
  loop_of_[header.value()] = id;
  const auto push = [this, header](BlockId from) {
    const BlockId head = loop_head(from);
    if (head != header) work_.push_back(head);
  };
  work_.clear();
  for (const Edge& edge : predecessors(header)) {
    if (dominates(header, edge.from)) push(edge.from);
  }
  while (!work_.empty()) {
    const BlockId member = work_.back();
    work_.pop_back();
    if (collapsed_into_[member.value()] != member) continue;  // met twice
    collapsed_into_[member.value()] = header;
    LoopId& innermost = loop_of_[member.value()];
    (innermost == kNoLoop ? innermost : loops_[innermost.value()].parent) = id;
    for (const Edge& edge : predecessors(member)) {
      if (block(edge.from).is_reachable) push(edge.from);
    }
  }
}

BlockId ControlFlowGraph::loop_head(BlockId id) {
  while (collapsed_into_[id.value()] != id) {
    BlockId& up = collapsed_into_[id.value()];
    up = collapsed_into_[up.value()];
    id = up;
  }
  return id;
}

std::uint16_t ControlFlowGraph::loop_depth(BlockId id) const {
  const LoopId loop = loop_of(id);
  return loop == kNoLoop ? 0 : loops_[loop.value()].depth;
}

bool ControlFlowGraph::contains(LoopId loop, BlockId id) const {
  LoopId at = loop_of(id);
  while (at != kNoLoop && at > loop) at = loops_[at.value()].parent;  // parents have smaller ids
  return at == loop;
}

}  // namespace sonde::classfile
