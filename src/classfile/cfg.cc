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

}  // namespace sonde::classfile
