// SPDX-License-Identifier: Apache-2.0
#include "classfile/cfg.h"

#include <algorithm>

namespace sonde::classfile {
namespace {

// The opcode table cannot know that loading a number never throws, while resolving a class or a call site may.
bool may_throw(const Code& code, Instruction insn) {
  const Opcode opcode = insn.opcode();
  if (!info_of(opcode).may_throw) return false;
  if (opcode != Opcode::ldc && opcode != Opcode::ldc_w && opcode != Opcode::ldc2_w) return true;
  const Tag tag = code.owner().pool().tag(insn.pool_index());
  return tag != Tag::kInteger && tag != Tag::kFloat && tag != Tag::kLong && tag != Tag::kDouble;
}

bool ends_block(const Code& code, Instruction insn, BlockPolicy policy) {
  switch (flow_of(insn.opcode())) {
    case Flow::next: return policy == BlockPolicy::kPrecise && may_throw(code, insn);
    case Flow::call: return policy == BlockPolicy::kPrecise;
    default: return true;
  }
}

template <typename Visit>
void for_each_target(Instruction jump, Visit visit) {
  if (jump.is_branch()) return visit(jump.branch_target());
  const Switch cases = jump.as_switch();
  for (std::uint32_t i = 0; i < cases.size(); ++i) visit(cases.target(i));
  visit(cases.default_target());
}

BlockId next(BlockId id) { return BlockId(static_cast<std::uint16_t>(id.value() + 1)); }

}  // namespace

Result<void> ControlFlowGraph::build(const Code& code, BlockPolicy policy) {
  clear();
  mark_targets(code);
  split_blocks(code, policy);
  find_lines(code);
  find_return_points(code);
  if (!collect_handlers(code) || !connect(code)) {
    clear();
    return Error{
        ErrorCode::kTooLarge,
        "exception table or subroutines make more than " + std::to_string(kMaxEdges) + " edges",
        {.path = "method `" + qualified_name(code.owner(), code.method()) + "`, flow graph", .byte_offset = {}}};
  }
  link_predecessors();
  order_blocks();
  find_dominators();
  number_dominator_tree();
  find_retreating_edges();
  find_loops();
  follow_single_path();
  return {};
}

void ControlFlowGraph::clear() {
  blocks_.clear();
  edges_.clear();
  incoming_.clear();
  call_sites_.clear();
  order_.clear();
  loops_.clear();
  back_edges_.clear();
  irreducible_edges_.clear();
  single_path_length_ = 0;
}

void ControlFlowGraph::mark_targets(const Code& code) {
  is_target_.assign(code.length(), 0);
  for (const Pc pc : code.jumps()) {
    for_each_target(code.at(pc), [this](Pc target) { is_target_[target.value()] = 1; });
  }
  for (const ExceptionEntry& entry : code.exceptions()) is_target_[entry.handler.value()] = 1;
}

void ControlFlowGraph::split_blocks(const Code& code, BlockPolicy policy) {
  if (block_of_.size() < code.length()) block_of_.resize(code.length());
  bool starts_block = true;
  for (const Instruction insn : code.instructions()) {
    const Pc pc = insn.pc();
    if (starts_block || is_target_[pc.value()] != 0) blocks_.push_back({.start = pc, .end = pc, .last = pc});
    const BlockId id(static_cast<std::uint16_t>(blocks_.size() - 1));
    Block& block = blocks_.back();
    block.last = pc;
    block.last_opcode = insn.opcode();
    block.end = insn.next_pc();
    ++block.instruction_count;
    block_of_[pc.value()] = id;
    if (is_invoke(insn.opcode())) {
      const auto index = static_cast<std::uint32_t>(call_sites_.size());
      call_sites_.push_back({.pc = pc, .opcode = insn.opcode(), .block = id, .index = index, .line = {}});
    }
    starts_block = ends_block(code, insn, policy);
  }
}

// Code::line_at for all call sites at once: it reads the whole table, which for many calls would be quadratic.
void ControlFlowGraph::find_lines(const Code& code) {
  if (call_sites_.empty()) return;
  line_starts_.assign(code.length(), 0);
  for (const Attribute& attribute : code.attributes()) {
    if (attribute.name != attribute::kLineNumberTable) continue;
    ByteReader reader(attribute.content);
    for (std::uint16_t count = reader.u2(); count > 0 && reader.remaining() >= 4; --count) {
      const std::uint16_t start = reader.u2();
      const std::uint16_t line = reader.u2();
      if (start < line_starts_.size()) line_starts_[start] = line + 1U;
    }
  }
  std::uint32_t pc = 0;
  std::uint32_t current = 0;
  for (CallSite& site : call_sites_) {
    for (; pc <= site.pc.value(); ++pc) current = line_starts_[pc] != 0 ? line_starts_[pc] : current;
    if (current != 0) site.line = static_cast<std::uint16_t>(current - 1);
  }
}

// Lists the handlers of each block, with repetitions. False if that takes more than kMaxEdges.
bool ControlFlowGraph::collect_handlers(const Code& code) {
  struct Cover {
    std::uint32_t begin, end;  // blocks
  };
  const auto cover_of = [&](const ExceptionEntry& entry) -> Cover {
    const std::uint32_t begin = block_of_[entry.start.value()].value();
    if (entry.end.value() == code.length()) return {begin, static_cast<std::uint32_t>(blocks_.size())};
    const BlockId last = block_of_[entry.end.value()];
    return {begin, last.value() + (block(last).start == entry.end ? 0U : 1U)};
  };
  // A multi-catch is several entries in a row that differ in their type only.
  const auto repeats = [&](std::size_t i) {
    const auto& table = code.exceptions();
    return i > 0 && table[i].start == table[i - 1].start && table[i].end == table[i - 1].end &&
           table[i].handler == table[i - 1].handler;
  };
  // first_handler_ is first the change in the number of handlers from one block to the next, then a running sum.
  first_handler_.assign(blocks_.size() + 1, 0);
  std::size_t total = 0;
  for (std::size_t i = 0; i < code.exceptions().size(); ++i) {
    if (repeats(i)) continue;
    const Cover cover = cover_of(code.exceptions()[i]);
    total += cover.end - cover.begin;
    ++first_handler_[cover.begin];
    --first_handler_[cover.end];  // wraps; the sums do not
  }
  if (total > kMaxEdges) return false;
  std::uint32_t sum = 0;
  std::uint32_t active = 0;
  for (std::uint32_t& slot : first_handler_) {
    active += slot;
    slot = sum;
    sum += active;
  }
  handlers_.resize(total);
  cursor_.assign(first_handler_.begin(), first_handler_.end());
  for (std::size_t i = 0; i < code.exceptions().size(); ++i) {
    if (repeats(i)) continue;
    const Cover cover = cover_of(code.exceptions()[i]);
    const BlockId handler = block_of_[code.exceptions()[i].handler.value()];
    for (std::uint32_t b = cover.begin; b < cover.end; ++b) handlers_[cursor_[b]++] = handler;
  }
  return true;
}

void ControlFlowGraph::find_return_points(const Code& code) {
  return_points_.clear();
  for (const Pc pc : code.jumps()) {
    const Instruction jump = code.at(pc);
    if (flow_of(jump.opcode()) != Flow::call || jump.next_pc().value() == code.length()) continue;
    const BlockId id = block_of_[jump.next_pc().value()];
    if (return_points_.empty() || return_points_.back() != id) return_points_.push_back(id);
  }
}

bool ControlFlowGraph::connect(const Code& code) {
  seen_by_.assign(blocks_.size(), kNoBlock);
  auto jump = code.jumps().begin();
  for (BlockId id(0); id.value() < blocks_.size(); id = next(id)) {
    Block& block = blocks_[id.value()];
    block.first_edge = static_cast<std::uint32_t>(edges_.size());
    for (; jump != code.jumps().end() && *jump < block.end; ++jump) connect_jump(id, code.at(*jump));
    // What follows a jsr is its subroutine; the next instruction comes after the ret. Code that runs off its end (the
    // verifier refuses it) has no successor there.
    const bool falls = falls_through(block.last_opcode) && flow_of(block.last_opcode) != Flow::call;
    if (falls && id.value() + 1U < blocks_.size()) {
      edges_.push_back({.from = id, .to = next(id), .kind = EdgeKind::kNext});
    }
    if (block.last_opcode == Opcode::ret) {
      if (edges_.size() + return_points_.size() > kMaxEdges) return false;
      for (const BlockId to : return_points_) edges_.push_back({.from = id, .to = to, .kind = EdgeKind::kRet});
    }
    block.successor_count = static_cast<std::uint32_t>(edges_.size()) - block.first_edge;
    connect_handlers(id);
    block.handler_count = static_cast<std::uint32_t>(edges_.size()) - block.first_edge - block.successor_count;
  }
  return edges_.size() <= kMaxEdges;
}

void ControlFlowGraph::connect_jump(BlockId from, Instruction jump) {
  if (jump.is_branch()) {
    const bool is_jsr = flow_of(jump.opcode()) == Flow::call;
    edges_.push_back({.from = from,
                      .to = block_of_[jump.branch_target().value()],
                      .kind = is_jsr ? EdgeKind::kJsr : EdgeKind::kTaken});
    return;
  }
  const Switch cases = jump.as_switch();
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    edges_.push_back({.from = from,
                      .to = block_of_[cases.target(i).value()],
                      .kind = EdgeKind::kCase,
                      .case_index = static_cast<std::uint16_t>(i)});
  }
  edges_.push_back({.from = from, .to = block_of_[cases.default_target().value()], .kind = EdgeKind::kDefaultCase});
}

void ControlFlowGraph::connect_handlers(BlockId from) {
  for (std::uint32_t i = first_handler_[from.value()]; i < first_handler_[from.value() + 1U]; ++i) {
    const BlockId handler = handlers_[i];
    if (seen_by_[handler.value()] == from) continue;
    seen_by_[handler.value()] = from;
    edges_.push_back({.from = from, .to = handler, .kind = EdgeKind::kCatch});
  }
}

// A counting sort of the edges by target; it keeps their order.
void ControlFlowGraph::link_predecessors() {
  first_incoming_.assign(blocks_.size() + 1, 0);
  for (const Edge& edge : edges_) ++first_incoming_[edge.to.value() + 1U];
  for (std::size_t i = 1; i < first_incoming_.size(); ++i) first_incoming_[i] += first_incoming_[i - 1];
  cursor_.assign(first_incoming_.begin(), first_incoming_.end());
  incoming_.resize(edges_.size());
  for (const Edge& edge : edges_) incoming_[cursor_[edge.to.value()]++] = edge;
}

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

void ControlFlowGraph::follow_single_path() {
  std::uint32_t length = 0;
  BlockId id(0);
  for (std::size_t steps = 0; steps < blocks_.size(); ++steps) {  // more would be a loop of gotos
    const Block& at = block(id);
    length += at.instruction_count;
    if (at.successor_count == 0 && (at.ends_in_return() || at.ends_in_throw())) single_path_length_ = length;
    if (at.successor_count != 1) return;
    const Edge& only = edges_[at.first_edge];
    if (only.kind != EdgeKind::kNext && flow_of(at.last_opcode) != Flow::jump) return;
    id = only.to;
  }
}

namespace {

std::string name_of(BlockId id) { return "B" + std::to_string(id.value()); }

std::string label_of(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::kNext: return " next";
    case EdgeKind::kTaken: return " taken";
    case EdgeKind::kCase: return " case " + std::to_string(edge.case_index);
    case EdgeKind::kDefaultCase: return " default";
    case EdgeKind::kJsr: return " jsr";
    case EdgeKind::kRet: return " ret";
    case EdgeKind::kCatch: return "";
  }
  return "";
}

void append_list(std::string& text, std::string_view lead, std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    text += lead;
    text += name_of(edge.to) + label_of(edge);
    lead = ", ";
  }
}

}  // namespace

std::string to_text(const ControlFlowGraph& graph) {
  std::string text;
  for (BlockId id(0); id.value() < graph.blocks().size(); id = next(id)) {
    const Block& block = graph.block(id);
    text += name_of(id) + " " + std::to_string(block.start.value()) + ".." + std::to_string(block.end.value()) + " (" +
            std::to_string(block.instruction_count) + ")";
    append_list(text, " -> ", graph.successors(id));
    if (block.ends_in_return()) text += " return";
    if (block.ends_in_throw()) text += " throw";
    append_list(text, "; catch ", graph.handlers(id));
    if (!block.is_reachable) text += "; unreachable";
    text += "\n";
  }
  return text;
}

}  // namespace sonde::classfile
