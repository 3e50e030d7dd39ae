// SPDX-License-Identifier: Apache-2.0
// Deterministic sampling (papers/000), by calls into java.lang.SondeSampling. Each method takes the bytecodes it
// executed itself off the thread's countdown when it ends, or at its entry if they are known there; whoever brings it
// to zero is sampled. What is inserted, by kind of method (slot: its place on the shadow stack; first: the number of
// its first call site):
//
//                 entry                   before each call        before return            exception leaves
//   leaf, 1 path  leaf(n, first)          -                       -                        leaf(-k, first)
//   leaf          count = n0              -                       leaf(count, first)       count -= k; the same
//   1 path        slot = enter(first)     call(slot, first, site) leave(slot)              exit(slot, -k, first)
//                 spend(slot, n, first)
//   other         slot = enter(first)     the same                exit(slot, count, first) count -= k; the same
//                 count = n0
//
// On the shadow stack each method that calls others has the number of the call site it is at. If samples are so rare
// that the JVM's stack can be looked at each time, there is none, and every method is like a leaf. In between, calls
// hand on a hash of all call sites that lead to them, by which a sample knows a context that was met before; a method
// that calls others is like a leaf, and besides:
//
//                 entry                   before each call        before it counts, and at its end
//   hash          callers = callers()     callFrom(callers, site) calledFrom(callers)
//
// With traps leaf is leafByTrap; where hashes are handed on, too, it is leafByHash or spendByHash(count, first,
// callers), which have no need of calledFrom before them, and leafWithLoops or spendWithLoops in a method with loops.
//
// Blocks, landing pads, constructors and intrinsics are as in exact counting (counting_pass.h). Where the JDK does not
// count, calls that stay in it (jdk_only_calls.h) are no call sites, and who has no others is a leaf.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrument/counting_pass.h"
#include "instrument/jdk_only_calls.h"

namespace sonde::instrument {

// Numbers for call sites, the same for ever.
class SiteNumbers {
 public:
  // `native_callees` has an element per site: the native method that is called there, 0 if it is another or unknown.
  // The first site is "not at a call"; a leaf has no other. Returns the number of the first one; the others follow.
  virtual Result<std::uint32_t> add_sites(std::uint32_t method_id, bool is_leaf,
                                          std::span<const std::uint32_t> native_callees) = 0;

 protected:
  ~SiteNumbers() = default;
};

// Where a sample has the call sites of its callers from: a shadow stack, the JVM's stack, or a hash that each call
// hands on, which is enough for a context that was met before; for others it is the JVM's stack. kTrap: the JVM's as
// well, and the sample is no call but a store that the agent notices; only where the JDK does not count.
enum class ContextFrom : std::uint8_t { kShadowStack, kJvm, kHash, kJvmByTrap, kHashByTrap };

class SamplingPass final : public CountingPass {
 public:
  // `weights`: of what counts down; null: each bytecode counts as one. `jdk_counts`: methods of the JDK are
  // instrumented as well, so what intrinsics call has to be told from the rest.
  SamplingPass(const KnownMethods& known, CalleeIds& callees, SiteNumbers& sites, ContextFrom context_from,
               bool jdk_counts, const classfile::OpcodeWeights* weights)
      : CountingPass(known, callees, Contexts::kTree),
        sites_(sites),
        context_from_(context_from),
        jdk_counts_(jdk_counts) {
    if (weights != nullptr) plan_.weigh_by(*weights);
  }

 private:
  Result<void> insert_entry(classfile::CodeEditor& code, const CountedMethod& counted) override;
  void insert_calls(classfile::CodeEditor& code) override;
  void hand_over(classfile::CodeBuilder& b) const override;
  void finish(classfile::CodeBuilder& b, std::int32_t bytecodes) const override;
  [[nodiscard]] bool is_of_no_interest(const classfile::MemberRef& callee) const override {
    return !jdk_counts_ && stays_in_jdk(callee);
  }
  [[nodiscard]] bool is_done_at_entry() const override {
    return !has_slot() && !hands_hash_on() && plan_.is_single_path();
  }

  // Methods of the JDK have even numbers (MethodRegistry).
  [[nodiscard]] bool is_of_jdk() const { return id_ % 2 == 0; }
  [[nodiscard]] bool has_slot() const;
  [[nodiscard]] bool hands_hash_on() const { return !leaf_ && is_by_hash(); }
  [[nodiscard]] bool is_by_hash() const {
    return context_from_ == ContextFrom::kHash || context_from_ == ContextFrom::kHashByTrap;
  }
  void restore_hash(classfile::CodeBuilder& b) const;
  void spend(classfile::CodeBuilder& b) const;

  SiteNumbers& sites_;
  const ContextFrom context_from_;
  const bool jdk_counts_;

  // The method at hand.
  std::int32_t first_ = 0;
  classfile::LocalIndex slot_local_;
  classfile::LocalIndex callers_local_;
  std::vector<std::uint32_t> native_callees_;
};

}  // namespace sonde::instrument
