// SPDX-License-Identifier: Apache-2.0
#include "instrument/sampling_pass.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

constexpr std::string_view kRuntime = "java/lang/SondeSampling";

constexpr MemberRef kEnter{kRuntime, "enter", "(I)J"};
constexpr MemberRef kEnterApplication{kRuntime, "enterApplication", "(I)J"};
constexpr MemberRef kEnterVisible{kRuntime, "enterVisible", "()J"};
constexpr MemberRef kLeaveVisible{kRuntime, "leaveVisible", "(J)V"};
constexpr MemberRef kExitVisible{kRuntime, "exitVisible", "(JJI)V"};
constexpr MemberRef kCall{kRuntime, "call", "(JII)V"};
constexpr MemberRef kCallers{kRuntime, "callers", "()J"};
constexpr MemberRef kCallFrom{kRuntime, "callFrom", "(JI)V"};
constexpr MemberRef kCalledFrom{kRuntime, "calledFrom", "(J)V"};
constexpr MemberRef kSpend{kRuntime, "spend", "(JJI)V"};
constexpr MemberRef kSpendOfJdk{kRuntime, "spendOfJdk", "(JJI)V"};
constexpr MemberRef kLeave{kRuntime, "leave", "(J)V"};
constexpr MemberRef kExit{kRuntime, "exit", "(JJI)V"};
constexpr MemberRef kExitOfJdk{kRuntime, "exitOfJdk", "(JJI)V"};
constexpr MemberRef kLeaf{kRuntime, "leaf", "(JI)V"};
constexpr MemberRef kLeafOfJdk{kRuntime, "leafOfJdk", "(JI)V"};
constexpr MemberRef kLeafByTrap{kRuntime, "leafByTrap", "(JI)V"};
constexpr MemberRef kLeafByHash{kRuntime, "leafByHash", "(JI)V"};
constexpr MemberRef kSpendByHash{kRuntime, "spendByHash", "(JIJ)V"};
constexpr MemberRef kLeafWithLoops{kRuntime, "leafWithLoops", "(JI)V"};
constexpr MemberRef kSpendWithLoops{kRuntime, "spendWithLoops", "(JIJ)V"};

}  // namespace

// Application code that is called by an intrinsic remembers where it came from, though it has no shadow stack.
bool SamplingPass::has_slot() const {
  return !leaf_ && (context_from_ == ContextFrom::kShadowStack || (jdk_counts_ && !is_of_jdk()));
}

Result<void> SamplingPass::insert_entry(CodeEditor& code, const CountedMethod&) {
  native_callees_.assign(1, 0);
  for (const CallToCount& call : calls_) native_callees_.push_back(call.native_id);
  first_ = static_cast<std::int32_t>(TRY(sites_.add_sites(static_cast<std::uint32_t>(id_), leaf_, native_callees_)));
  count_type_ = plan_.has_loops() ? LocalType::kLong : LocalType::kInt;
  if (has_slot()) slot_local_ = code.new_local(LocalType::kLong);
  if (hands_hash_on()) callers_local_ = code.new_local(LocalType::kLong);
  if (!plan_.is_single_path()) count_local_ = code.new_local(count_type_);
  code.at_entry(code.snippet([&](CodeBuilder& b) {
    if (has_slot()) {
      if (context_from_ == ContextFrom::kShadowStack) {
        b.push(first_).invoke_static(jdk_counts_ && !is_of_jdk() ? kEnterApplication : kEnter);
      } else {
        b.invoke_static(kEnterVisible);
      }
      b.store(LocalType::kLong, slot_local_);
    }
    if (hands_hash_on()) b.invoke_static(kCallers).store(LocalType::kLong, callers_local_);
    if (plan_.is_single_path()) {
      if (has_slot()) b.load(LocalType::kLong, slot_local_);
      b.push(plan_.constant_bytecodes()).op(Opcode::i2l);
      spend(b);
    }
    set_first_count(b);
  }));
  return {};
}

// With the slot, if there is one, and the bytecodes on the stack.
void SamplingPass::spend(CodeBuilder& b) const {
  b.push(first_);
  if (has_slot()) {
    b.invoke_static(is_of_jdk() ? kSpendOfJdk : kSpend);
  } else if (context_from_ == ContextFrom::kJvmByTrap) {
    b.invoke_static(kLeafByTrap);
  } else if (context_from_ == ContextFrom::kHashByTrap && leaf_) {
    b.invoke_static(plan_.has_loops() ? kLeafWithLoops : kLeafByHash);
  } else if (context_from_ == ContextFrom::kHashByTrap) {
    b.load(LocalType::kLong, callers_local_).invoke_static(plan_.has_loops() ? kSpendWithLoops : kSpendByHash);
  } else {
    b.invoke_static(is_of_jdk() ? kLeafOfJdk : kLeaf);
  }
}

void SamplingPass::insert_calls(CodeEditor& code) {
  if (context_from_ == ContextFrom::kJvm || context_from_ == ContextFrom::kJvmByTrap) return;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const auto site = static_cast<std::int32_t>(i + 1);
    code.before(calls_[i].pc, code.snippet([&](CodeBuilder& b) {
      if (is_by_hash()) {
        b.load(LocalType::kLong, callers_local_).push(first_ + site).invoke_static(kCallFrom);
      } else {
        b.load(LocalType::kLong, slot_local_).push(first_).push(site).invoke_static(kCall);
      }
    }));
  }
}

// What the method itself executed belongs to where it was called from.
void SamplingPass::restore_hash(CodeBuilder& b) const {
  if (hands_hash_on()) b.load(LocalType::kLong, callers_local_).invoke_static(kCalledFrom);
}

void SamplingPass::hand_over(CodeBuilder& b) const {
  if (context_from_ == ContextFrom::kHash) restore_hash(b);
  if (has_slot()) b.load(LocalType::kLong, slot_local_);
  load_count(b);
  spend(b);
}

void SamplingPass::finish(CodeBuilder& b, std::int32_t bytecodes) const {
  restore_hash(b);
  if (has_slot()) b.load(LocalType::kLong, slot_local_);
  if (plan_.is_single_path() && bytecodes == 0) {
    if (has_slot()) b.invoke_static(context_from_ == ContextFrom::kShadowStack ? kLeave : kLeaveVisible);
    return;
  }
  if (plan_.is_single_path()) {
    b.push(bytecodes).op(Opcode::i2l);
  } else {
    load_count(b);
  }
  if (!has_slot()) return spend(b);
  const MemberRef& with_stack = is_of_jdk() ? kExitOfJdk : kExit;
  b.push(first_).invoke_static(context_from_ == ContextFrom::kShadowStack ? with_stack : kExitVisible);
}

}  // namespace sonde::instrument
