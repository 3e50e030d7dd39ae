// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on a Java thread that is to be sampled, in the middle of compiled code: no function of the JVM may
// be called that could stop it. Samples by bytecodes without a call in the probes: where a countdown is at zero, the
// probe stores into a range that nobody may write to (trapped_stores_x64.h), and what SondeSampling.sample would do is
// done here. The compiler knows nothing of it, so that probes cost it nothing but the countdown.
//
// Stacks of virtual threads may lie in the heap, and only the JVM can be asked for those: when the first one starts,
// all threads go on with calls (BytecodeSampling::use_calls).
#pragma once

#include <jni.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "agent/jvmti/stack_slots.h"
#include "agent/session/sample_countdown.h"
#include "agent/session/sampled_tree.h"
#include "agent/session/sampling_options.h"
#include "agent/session/shadow_stacks.h"
#include "agent/session/tree_pool.h"
#include "agent/vm/hotspot/full_debug_info.h"
#include "agent/vm/native/trapped_stores_x64.h"
#include "arena/writer.h"

namespace sonde::agent {

// One per process, and never destroyed: a thread may be about to store.
class SampleTraps {
 public:
  SampleTraps(arena::Writer& arena, TreePool& trees, const SiteTable& sites, StackSlots& stack,
              const SamplingOptions& options);

  // Once stacks can be read, before the first sample. Returns where the traps are.
  Result<std::uint64_t> begin(JNIEnv* jni);

  // A region is a thread's, as SondeSampling knows it, from here to there. Context: that thread.
  void thread_started(std::uint64_t region, std::uint64_t path, std::string name);
  void thread_ended(std::uint64_t region);

  [[nodiscard]] static TrapState& state_of(std::uint64_t region);

 private:
  struct Thread {
    std::string name;
    std::unique_ptr<SampledTree> tree;
  };

  void take(const TrappedStore& store);
  // Null if there is no memory.
  SampledTree* tree_of(std::uint64_t region, TrapState& state);

  arena::Writer& arena_;
  TreePool& trees_;
  const SiteTable& sites_;
  StackSlots& stack_;
  const Intervals intervals_;
  hotspot::FullDebugInfo debug_info_;
  JavaVM* vm_ = nullptr;
  std::uint64_t traps_ = 0;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<std::uint64_t, Thread> threads_;
};

}  // namespace sonde::agent
