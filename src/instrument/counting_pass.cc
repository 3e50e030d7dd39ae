// SPDX-License-Identifier: Apache-2.0
#include "instrument/counting_pass.h"

#include <algorithm>
#include <utility>

#include "instrument/places.h"
#include "instrument/runtime_layout.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

constexpr std::string_view kRuntime = "java/lang/SondeRT";

constexpr MemberRef kSite{kRuntime, "site", "()J"};
constexpr MemberRef kEnter{kRuntime, "enter", "(JII)J"};
constexpr MemberRef kCall{kRuntime, "call", "(JI)V"};
constexpr MemberRef kCallNative{kRuntime, "callNative", "(JII)V"};
constexpr MemberRef kAdd{kRuntime, "add", "(JJ)V"};
constexpr MemberRef kExitCounted{kRuntime, "exit", "(JJJ)V"};
constexpr MemberRef kExit{kRuntime, "exit", "(J)V"};
constexpr MemberRef kLeaf{kRuntime, "leaf", "(I)V"};
constexpr MemberRef kLeafCounted{kRuntime, "leaf", "(JI)V"};
constexpr MemberRef kCorrectLeaf{kRuntime, "correctLeaf", "(II)V"};
constexpr MemberRef kHidden{kRuntime, "hidden", "()J"};
constexpr MemberRef kEnterSink{kRuntime, "enterSink", "()J"};
constexpr MemberRef kExitSink{kRuntime, "exitSink", "(JJ)V"};

constexpr std::string_view kFlatRuntime = "java/lang/SondeFlat";
constexpr MemberRef kFlatEnterSink{kFlatRuntime, "enterSink", "()J"};
constexpr MemberRef kFlatExitSink{kFlatRuntime, "exitSink", "(J)V"};

constexpr std::uint32_t kMaxSites = 65535;
// HotSpot's verifier looks at every row of the exception table for every instruction (docs/design/0004).
constexpr std::size_t kMaxRowsTimesInstructions = 10000;

// With a row and a landing pad for each instruction that may throw.
bool is_long_to_verify(const Code& code) {
  std::size_t instructions = 0;
  std::size_t rows = 0;
  for (const Instruction insn : code.instructions()) {
    ++instructions;
    if (info_of(insn.opcode()).may_throw) ++rows;
  }
  return rows * instructions > kMaxRowsTimesInstructions;
}

// Every constructor ends up there, and it does nothing: a probe per object would say what `new` says already.
bool is_root_constructor(const MemberRef& method) {
  return method.class_name == "java/lang/Object" && method.name == "<init>";
}

// Reading or writing a static field may run that class's initialiser, which must then appear under this method.
bool may_initialize_class(const Code& code, Instruction insn) {
  return (insn.opcode() == Opcode::getstatic || insn.opcode() == Opcode::putstatic) &&
         code.owner().pool().member(insn.pool_index()).class_name != code.owner().name();
}

}  // namespace

struct FlatCalls {
  MemberRef hit;
  MemberRef hit_counted;
  MemberRef add;
};

namespace {

constexpr FlatCalls kFlatCalls = {.hit = {kFlatRuntime, "hit", "(I)V"},
                                  .hit_counted = {kFlatRuntime, "hit", "(JI)V"},
                                  .add = {kFlatRuntime, "add", "(JI)V"}};
constexpr FlatCalls kFlatCallsOfJdk = {.hit = {kFlatRuntime, "hitOfJdk", "(I)V"},
                                       .hit_counted = {kFlatRuntime, "hitOfJdk", "(JI)V"},
                                       .add = {kFlatRuntime, "addOfJdk", "(JI)V"}};

}  // namespace

Result<void> CountingPass::apply(CodeEditor& code, const MethodToCount& method, CountedMethod& counted) {
  const bool too_many_pads = method.precision == Precision::kPads && is_long_to_verify(code.code());
  const Precision precision = too_many_pads ? Precision::kShortBlocks : method.precision;
  id_ = static_cast<std::int32_t>(method.id);
  calls_of_flat_ = method.of_jdk ? &kFlatCallsOfJdk : &kFlatCalls;
  pads_.clear();
  leaving_pads_.clear();
  leaving_ends_.fill(std::nullopt);
  TRY(plan_.make(code.code(), code.stack_maps(), precision));
  find_calls(code.code(), counted);
  if (counted.sites.size() > kMaxSites) {
    return Error{ErrorCode::kTooLarge, "has more than 65535 call sites", {.path = "Code", .byte_offset = {}}};
  }
  counted.is_leaf = leaf_ && !flat_;
  counted.first_line = counted.sites[0].line;
  counted.constant_bytecodes = static_cast<std::uint32_t>(plan_.constant_bytecodes());
  TRY(insert_entry(code, counted));
  insert_counts(code);
  insert_calls(code);
  insert_exits(code);
  insert_handlers(code);
  return {};
}

// Native methods of other libraries are known if the class that calls them has them itself.
KnownKind CountingPass::kind_of(const ClassFile& caller, const MemberRef& callee) const {
  const KnownKind known = known_.find(callee);
  if (known != KnownKind::kNone || callee.class_name != caller.name()) return known;
  for (const Member& method : caller.methods()) {
    const bool same = method.name == callee.name && method.descriptor == callee.descriptor;
    if (same && method.has(kAccNative) && is_bound(caller, method)) return KnownKind::kNative;
  }
  return KnownKind::kNone;
}

void CountingPass::find_calls(const Code& code, CountedMethod& counted) {
  calls_.clear();
  counted.sites.clear();
  counted.sites.push_back({.pc = 0, .line = code.line_at(Pc(0)).value_or(0)});
  for (const CallSite& call : plan_.call_sites()) {
    const Instruction insn = code.at(call.pc);
    const MemberRef callee = code.owner().pool().member(insn.pool_index());
    if (is_root_constructor(callee) || is_of_no_interest(callee)) continue;
    const KnownKind known = insn.opcode() == Opcode::invokedynamic ? KnownKind::kNone : kind_of(code.owner(), callee);
    calls_.push_back({.pc = call.pc, .native_id = known == KnownKind::kNone ? 0 : callees_.id_of(callee, known)});
    counted.sites.push_back({.pc = static_cast<std::uint16_t>(call.pc.value()), .line = call.line.value_or(0)});
  }
  const InstructionRange all = code.instructions();
  leaf_ = calls_.empty() &&
          std::none_of(all.begin(), all.end(), [&](Instruction insn) { return may_initialize_class(code, insn); });
  if (!flat_) return;
  leaf_ = true;
  counted.sites.resize(1);
  std::erase_if(calls_, [](const CallToCount& call) { return call.native_id == 0; });
  const auto hands_over = [](const Segment& s) { return s.start == Segment::Start::kConstructorCall; };
  counts_at_entry_ = std::ranges::any_of(plan_.segments(), hands_over);
}

void CountingPass::set_count(CodeBuilder& b, std::int32_t value) const {
  if (count_type_ == LocalType::kLong) {
    b.push_long(value);
  } else {
    b.push(value);
  }
  b.store(count_type_, count_local_);
}

void CountingPass::add_to_count(CodeBuilder& b, std::int32_t by) const {
  if (count_type_ == LocalType::kInt) {
    b.iinc(count_local_, by);
  } else {
    b.load(LocalType::kLong, count_local_)
        .push(by)
        .op(Opcode::i2l)
        .op(Opcode::ladd)
        .store(LocalType::kLong, count_local_);
  }
}

// Pushes the count as a long.
CodeBuilder& CountingPass::load_count(CodeBuilder& b) const {
  b.load(count_type_, count_local_);
  return count_type_ == LocalType::kInt ? b.op(Opcode::i2l) : b;
}

void CountingPass::finish_flat(CodeBuilder& b, std::int32_t bytecodes) const {
  if (!plan_.is_single_path()) {
    load_count(b).push(id_).invoke_static(counts_at_entry_ ? calls_of_flat_->add : calls_of_flat_->hit_counted);
  } else if (bytecodes != 0) {
    b.push(bytecodes).op(Opcode::i2l).push(id_).invoke_static(calls_of_flat_->add);
  }
}

void CountingPass::hand_over(CodeBuilder& b) const {
  if (flat_) {
    load_count(b).push(id_).invoke_static(calls_of_flat_->add);
  } else {
    load_count(b.load(LocalType::kLong, node_local_)).invoke_static(kAdd);
  }
}

void CountingPass::finish(CodeBuilder& b, std::int32_t bytecodes) const {
  if (flat_) {
    finish_flat(b, bytecodes);
  } else if (leaf_ && plan_.is_single_path()) {
    if (bytecodes != 0) b.push(bytecodes).push(id_).invoke_static(kCorrectLeaf);
  } else if (leaf_) {
    load_count(b).push(id_).invoke_static(kLeafCounted);
  } else if (!plan_.is_single_path()) {
    load_count(b.load(LocalType::kLong, node_local_)).load(LocalType::kLong, site_local_).invoke_static(kExitCounted);
  } else if (bytecodes != 0) {
    b.load(LocalType::kLong, node_local_).push(bytecodes).op(Opcode::i2l);
    b.load(LocalType::kLong, site_local_).invoke_static(kExitCounted);
  } else {
    b.load(LocalType::kLong, site_local_).invoke_static(kExit);
  }
}

Result<void> CountingPass::insert_entry(CodeEditor& code, const CountedMethod& counted) {
  count_type_ = plan_.has_loops() ? LocalType::kLong : LocalType::kInt;
  if (!leaf_) {
    site_local_ = code.new_local(LocalType::kLong);
    node_local_ = code.new_local(LocalType::kLong);
  }
  if (!plan_.is_single_path()) count_local_ = code.new_local(count_type_);
  code.at_entry(code.snippet([&](CodeBuilder& b) {
    if (flat_ && (plan_.is_single_path() || counts_at_entry_)) b.push(id_).invoke_static(calls_of_flat_->hit);
    if (!flat_ && leaf_ && plan_.is_single_path()) b.push(id_).invoke_static(kLeaf);
    if (!leaf_) {
      b.invoke_static(kSite).op(Opcode::dup2).store(LocalType::kLong, site_local_);
      b.push(id_)
          .push(static_cast<std::int32_t>(counted.sites.size()))
          .invoke_static(kEnter)
          .store(LocalType::kLong, node_local_);
    }
    set_first_count(b);
  }));
  return {};
}

// The count of what is executed in any case; nothing on a single path, which has no count.
void CountingPass::set_first_count(CodeBuilder& b) const {
  if (plan_.is_single_path()) return;
  const Segment& first = plan_.segments()[0];
  set_count(b, first.start == Segment::Start::kEntry ? first.bytecodes : 0);
}

void CountingPass::insert_counts(CodeEditor& code) {
  for (const Segment& segment : plan_.segments()) {
    switch (segment.start) {
      case Segment::Start::kEntry: break;
      case Segment::Start::kBlock:
        code.before(segment.at, code.snippet([&](CodeBuilder& b) { add_to_count(b, segment.bytecodes); }));
        break;
      case Segment::Start::kConstructorCall:
        code.after(segment.at, code.snippet([&](CodeBuilder& b) { set_count(b, segment.bytecodes); }));
        code.before(segment.at, code.snippet([&](CodeBuilder& b) { hand_over(b); }));
        break;
      case Segment::Start::kSubroutine:
        code.after(segment.at, code.snippet([&](CodeBuilder& b) { add_to_count(b, segment.bytecodes); }));
        break;
    }
  }
}

void CountingPass::insert_calls(CodeEditor& code) {
  if (flat_) {
    for (const CallToCount& call : calls_) {
      code.before(call.pc, code.snippet([&](CodeBuilder& b) {
        b.push(static_cast<std::int32_t>(call.native_id)).invoke_static(calls_of_flat_->hit);
      }));
    }
    return;
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto offset = static_cast<std::int32_t>(kNodeHeaderSize + kCallSiteSize * (i + 1));
    code.before(calls_[i].pc, code.snippet([&](CodeBuilder& b) {
      b.load(LocalType::kLong, node_local_).push(offset);
      if (calls_[i].native_id != 0) {
        b.push(static_cast<std::int32_t>(calls_[i].native_id)).invoke_static(kCallNative);
      } else {
        b.invoke_static(kCall);
      }
    }));
  }
}

void CountingPass::insert_exits(CodeEditor& code) {
  if (is_done_at_entry() && plan_.bytecodes_after_constructor_call() == 0) return;
  before_returns(code, code.snippet([&](CodeBuilder& b) { finish(b, plan_.bytecodes_after_constructor_call()); }));
}

Result<void> CountingPass::apply_sink(CodeEditor& code) {
  const InstructionRange instructions = code.code().instructions();
  const bool calls =
      std::any_of(instructions.begin(), instructions.end(), [](Instruction insn) { return is_invoke(insn.opcode()); });
  if (!calls) return {};
  TRY(plan_.make(code.code(), code.stack_maps(), Precision::kWholeBlocks));
  const LocalIndex site = code.new_local(LocalType::kLong);
  const LocalIndex hidden = flat_ ? site : code.new_local(LocalType::kLong);
  code.at_entry(code.snippet([&](CodeBuilder& b) {
    if (!flat_) b.invoke_static(kHidden).store(LocalType::kLong, hidden);
    b.invoke_static(flat_ ? kFlatEnterSink : kEnterSink).store(LocalType::kLong, site);
  }));
  const auto leave = [&](CodeBuilder& b) -> CodeBuilder& {
    if (flat_) return b.load(LocalType::kLong, site).invoke_static(kFlatExitSink);
    return b.load(LocalType::kLong, site).load(LocalType::kLong, hidden).invoke_static(kExitSink);
  };
  before_returns(code, code.snippet([&](CodeBuilder& b) { leave(b); }));
  cover_what_throws(code, plan_, code.snippet([&](CodeBuilder& b) { leave(b).op(Opcode::athrow); }));
  return {};
}

}  // namespace sonde::instrument
