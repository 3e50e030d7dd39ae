// SPDX-License-Identifier: Apache-2.0
#include "instrument/count_plan.h"

#include <algorithm>
#include <optional>

#include "classfile/access_flags.h"
#include "classfile/type_state.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

bool calls_init(const Code& code, Instruction insn) {
  return insn.opcode() == Opcode::invokespecial && code.owner().pool().member(insn.pool_index()).name == "<init>";
}

bool calls_root_init(const Code& code, Instruction insn) {
  return code.owner().pool().member(insn.pool_index()).class_name == "java/lang/Object";
}

bool stores_into_first_local(Instruction insn) {
  return insn.opcode() == Opcode::astore_0 || (insn.opcode() == Opcode::astore && insn.local() == LocalIndex(0));
}

// Local 0 is `this` all along.
bool keeps_this(const Code& code) {
  if (code.method().has(kAccStatic)) return false;
  const InstructionRange all = code.instructions();
  return std::none_of(all.begin(), all.end(), stores_into_first_local);
}

bool loads_this(Instruction insn) {
  return insn.opcode() == Opcode::aload_0 || (insn.opcode() == Opcode::aload && insn.local() == LocalIndex(0));
}

// A field that the class declares itself: resolving it cannot fail.
bool is_own_field(const Code& code, Instruction insn) {
  const MemberRef field = code.owner().pool().member(insn.pool_index());
  if (field.class_name != code.owner().name()) return false;
  const auto is_it = [&](const Member& own) {
    return own.name == field.name && own.descriptor == field.descriptor && !own.has(kAccStatic);
  };
  return std::ranges::any_of(code.owner().fields(), is_it);
}

}  // namespace

Result<void> CountPlan::make(const Code& code, const StackMapTable& stack_maps, Precision precision) {
  precision_ = precision;
  TRY(graph_.build(code, BlockPolicy::kDefault));
  segments_.clear();
  exposures_.assign(code.length(), {});
  constant_bytecodes_ = 0;
  after_constructor_call_ = 0;
  find_what_throws(code);
  find_constructor_calls(code, stack_maps);
  // With handlers a path that an exception left may come back to where it would have gone, so blocks must be counted.
  single_path_ = graph_.is_single_path() && code.exceptions().empty() && precision != Precision::kShortBlocks;
  if (single_path_) {
    plan_single_path(code);
  } else {
    plan_segments(code);
    expose_segments(code);
  }
  return {};
}

// What may throw, without reading a field of `this`, which is what many methods of many classes do all the time.
void CountPlan::find_what_throws(const Code& code) {
  throws_.assign(code.length(), 0);
  for (const Instruction insn : code.instructions())
    throws_[insn.pc().value()] = info_of(insn.opcode()).may_throw && !is_return(insn.opcode()) ? 1 : 0;
  if (!keeps_this(code)) return;
  for (const Block& block : graph_.blocks()) {
    bool this_is_on_top = false;
    for (Pc pc = block.start; pc < block.end; pc = code.at(pc).next_pc()) {
      const Instruction insn = code.at(pc);
      if (this_is_on_top && insn.opcode() == Opcode::getfield && is_own_field(code, insn)) throws_[pc.value()] = 0;
      this_is_on_top = loads_this(insn) || (this_is_on_top && insn.opcode() == Opcode::dup);
    }
  }
}

void CountPlan::find_constructor_calls(const Code& code, const StackMapTable& stack_maps) {
  kinds_.assign(code.length(), Kind::kOther);
  mark_uninitialized_this(code, stack_maps, uninitialized_this_);
  for (const Instruction insn : code.instructions()) {
    const std::uint32_t next = insn.next_pc().value();
    const bool initializes =
        uninitialized_this_[insn.pc().value()] != 0 && next < code.length() && uninitialized_this_[next] == 0;
    if (!initializes || !calls_init(code, insn)) continue;
    kinds_[insn.pc().value()] = calls_root_init(code, insn) ? Kind::kRootConstructorCall : Kind::kConstructorCall;
  }
}

void CountPlan::plan_single_path(const Code& code) {
  run_.clear();
  for (BlockId block(0);;) {
    const Block& b = graph_.block(block);
    for (Pc pc = b.start; pc < b.end; pc = code.at(pc).next_pc()) run_.push_back(pc);
    if (graph_.successors(block).empty()) break;
    block = graph_.successors(block)[0].to;
  }
  std::int32_t total = 0;
  std::optional<std::int32_t> before_constructor_call;  // with the call itself
  for (const Pc pc : run_) {
    total += weight_of(code.at(pc));
    if (kinds_[pc.value()] == Kind::kConstructorCall) before_constructor_call = total;
  }
  constant_bytecodes_ = before_constructor_call.value_or(total);
  after_constructor_call_ = total - constant_bytecodes_;
  bool is_behind_call = false;
  std::int32_t executed = 0;
  for (const Pc pc : run_) {
    const Instruction insn = code.at(pc);
    const std::int32_t counted = is_behind_call ? total : constant_bytecodes_;
    executed += weight_of(insn);
    if (kinds_[pc.value()] == Kind::kConstructorCall) is_behind_call = true;
    exposures_[pc.value()] = {.coverable = kinds_[pc.value()] == Kind::kOther && !is_return(insn.opcode()),
                              .throws = may_throw(insn),
                              .uninitialized = uninitialized_this_[pc.value()] != 0,
                              .unexecuted = precision_ == Precision::kPads ? counted - executed : 0};
  }
}

std::optional<Segment> CountPlan::segment_behind(Instruction insn) const {
  using Start = Segment::Start;
  if (kinds_[insn.pc().value()] == Kind::kConstructorCall) return Segment{Start::kConstructorCall, insn.pc()};
  if (flow_of(insn.opcode()) == Flow::call) return Segment{Start::kSubroutine, insn.pc()};
  if (precision_ == Precision::kShortBlocks && may_throw(insn)) return Segment{Start::kBlock, insn.next_pc()};
  return std::nullopt;
}

void CountPlan::plan_segments(const Code& code) {
  const bool entry_is_target = !graph_.predecessors(BlockId(0)).empty();
  for (const Block& block : graph_.blocks()) {
    const bool entry = block.start == Pc(0) && !entry_is_target;
    segments_.push_back({.start = entry ? Segment::Start::kEntry : Segment::Start::kBlock, .at = block.start});
    for (Pc pc = block.start; pc < block.end; pc = code.at(pc).next_pc()) {
      const Instruction insn = code.at(pc);
      ++segments_.back().instructions;
      segments_.back().bytecodes += weight_of(insn);
      if (insn.next_pc() >= block.end) break;
      if (const std::optional<Segment> next = segment_behind(insn)) segments_.push_back(*next);
    }
  }
}

// Instructions that cannot throw share the exposure of the next one that can, so that ranges of handlers, which must be
// covered all over, are few.
void CountPlan::expose_segments(const Code& code) {
  for (const Segment& segment : segments_) {
    const bool behind_call =
        segment.start == Segment::Start::kConstructorCall || segment.start == Segment::Start::kSubroutine;
    Pc pc = behind_call ? code.at(segment.at).next_pc() : segment.at;
    run_.clear();
    for (std::int32_t i = 0; i < segment.instructions; ++i, pc = code.at(pc).next_pc()) run_.push_back(pc);
    std::int32_t behind = 0;
    std::int32_t unexecuted = 0;
    bool throws = false;
    for (std::size_t i = run_.size(); i-- > 0;) {
      const Instruction insn = code.at(run_[i]);
      throws = throws || may_throw(insn);
      if (precision_ == Precision::kPads && may_throw(insn)) unexecuted = behind;
      behind += weight_of(insn);
      exposures_[run_[i].value()] = {.coverable = !is_return(insn.opcode()) && kinds_[run_[i].value()] == Kind::kOther,
                                     .throws = precision_ == Precision::kPads ? may_throw(insn) : throws,
                                     .uninitialized = uninitialized_this_[run_[i].value()] != 0,
                                     .unexecuted = unexecuted};
    }
  }
}

}  // namespace sonde::instrument
