// SPDX-License-Identifier: Apache-2.0
// What exact counting has to know of a method before it inserts anything: how many bytecodes run where, which calls
// are made, and how much was counted too much when an instruction throws. Pure analysis, no edits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "classfile/cfg.h"
#include "classfile/code.h"
#include "classfile/opcode_weights.h"
#include "classfile/stack_map.h"

namespace sonde::instrument {

// What is counted of a block that an exception leaves in the middle.
enum class Precision : std::uint8_t {
  kPads,         // what was executed: a landing pad for each instruction that may throw takes back what lies behind it
  kShortBlocks,  // the same: a block ends at each instruction that may throw ("precise" in papers/001)
  kWholeBlocks,  // all of it ("default" in papers/001)
};

// A run of instructions that is counted as a whole, at its start.
struct Segment {
  enum class Start : std::uint8_t {
    kEntry,            // where the method begins, and nowhere else
    kBlock,            // a block, or a part of one: however control arrives
    kConstructorCall,  // behind super() or this(), before which the count was handed over
    kSubroutine,       // behind jsr, when the subroutine is back
  };
  Start start;
  classfile::Pc at;            // the first instruction; for the last two kinds the call before it
  std::int32_t bytecodes = 0;  // weighed
  std::int32_t instructions = 0;
};

// What happens to the count if an exception leaves here.
struct Exposure {
  bool coverable = false;       // false: no handler of ours may cover it (returns, super())
  bool throws = false;          // it may throw by itself; but for kPads, also if one behind it in its segment may
  bool uninitialized = false;   // `this` of a constructor is not initialised yet
  std::int32_t unexecuted = 0;  // counted already, but behind the instruction that throws
};

class CountPlan {
 public:
  // All bytecodes of the plan are weighed from now on; without this each counts as one. They must outlive the plan.
  void weigh_by(const classfile::OpcodeWeights& weights) { weights_ = &weights; }

  Result<void> make(const classfile::Code& code, const classfile::StackMapTable& stack_maps, Precision precision);

  // Every normal execution runs the same bytecodes: no count is kept, calls x constant_bytecodes() tells. Never with
  // short blocks.
  [[nodiscard]] bool is_single_path() const { return single_path_; }
  [[nodiscard]] std::int32_t constant_bytecodes() const { return constant_bytecodes_; }
  // Single path through a constructor: what lies behind super() and is added at the end, if the end is reached.
  [[nodiscard]] std::int32_t bytecodes_after_constructor_call() const { return after_constructor_call_; }

  [[nodiscard]] bool has_loops() const { return graph_.has_loops(); }
  [[nodiscard]] std::span<const classfile::CallSite> call_sites() const { return graph_.call_sites(); }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }  // empty on a single path
  // By the pc of an instruction.
  [[nodiscard]] const Exposure& exposure(classfile::Pc pc) const { return exposures_[pc.value()]; }

 private:
  enum class Kind : std::uint8_t {
    kOther,
    kConstructorCall,      // super() or this(): may throw, and no handler may cover it
    kRootConstructorCall,  // Object's, which does nothing
  };

  void find_what_throws(const classfile::Code& code);
  void find_constructor_calls(const classfile::Code& code, const classfile::StackMapTable& stack_maps);
  void plan_single_path(const classfile::Code& code);
  void plan_segments(const classfile::Code& code);
  void expose_segments(const classfile::Code& code);
  // How a segment begins behind this instruction; nothing if it goes on.
  [[nodiscard]] std::optional<Segment> segment_behind(classfile::Instruction insn) const;
  [[nodiscard]] bool may_throw(classfile::Instruction insn) const { return throws_[insn.pc().value()] != 0; }
  [[nodiscard]] std::int32_t weight_of(classfile::Instruction insn) const {
    return weights_ == nullptr ? 1 : static_cast<std::int32_t>(weights_->of(insn.opcode()));
  }

  const classfile::OpcodeWeights* weights_ = nullptr;
  classfile::ControlFlowGraph graph_;
  Precision precision_ = Precision::kPads;
  bool single_path_ = false;
  std::int32_t constant_bytecodes_ = 0;
  std::int32_t after_constructor_call_ = 0;
  std::vector<Segment> segments_;
  std::vector<Exposure> exposures_;
  std::vector<Kind> kinds_;
  std::vector<std::uint8_t> throws_;
  std::vector<std::uint8_t> uninitialized_this_;
  std::vector<classfile::Pc> run_;  // instructions of one segment or path
};

}  // namespace sonde::instrument
