// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on a Java thread that is to be sampled, in the middle of compiled code: no function of the JVM may
// be called that could stop it. Samples by bytecodes without a call in the probes: where a countdown is at zero, the
// probe stores into a range that nobody may write to (trapped_stores_x64.h), and what SondeSampling.sample would do is
// done here. The compiler knows nothing of it, so that probes cost it nothing but the countdown.
//
// With hashes that calls hand on, probes count samples of known contexts themselves, in a table of their thread, and
// only those of others come here. What is in the table goes to the call tree every second, and when the thread ends.
//
// Stacks of virtual threads may lie in the heap, and only the JVM can be asked for those: when the first one starts,
// all threads go on with calls (BytecodeSampling::use_calls). So they do if contexts are so many that too few
// of them are in the tables: a signal takes longer than all that it spares.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <functional>
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
  // `use_calls` puts an end to all traps; on a thread of its own.
  SampleTraps(arena::Writer& arena, TreePool& trees, const SiteTable& sites, StackSlots& stack,
              const SamplingOptions& options, std::function<void(JNIEnv*)> use_calls);

  // Once stacks can be read, before the first sample.
  Result<void> begin(JNIEnv* jni);

  // A region is a thread's, as SondeSampling knows it, from here to there. Context: that thread.
  void thread_started(std::uint64_t region, std::uint64_t path, std::string name);
  void thread_ended(std::uint64_t region);

  // The same thread, which goes on without traps.
  void end_traps(std::uint64_t region);
  // The JVM ends while threads are alive.
  void settle_living();

  [[nodiscard]] static TrapState& state_of(std::uint64_t region);

 private:
  struct Thread {
    std::string name;
    std::unique_ptr<SampledTree> tree;
    std::uint32_t displaced = 0;  // contexts that were known, but not in the table
    std::int64_t written_at = 0;  // the table, in seconds
  };

  void begin_state(std::uint64_t region);
  void take(const TrappedStore& store, std::uint64_t region);
  // With its tree. Null if there is no memory.
  Thread* thread_of(std::uint64_t region, TrapState& state);
  // Where `count` samples of where the thread is are to be counted.
  std::uint64_t& samples_of(const TrappedStore& store, std::uint64_t region, Thread& thread, std::uint64_t count);
  std::uint64_t& samples_at(const TrappedStore& store, std::uint64_t region, Thread& thread, std::uint64_t count);
  // Has the probes find this counter.
  void remember(std::uint64_t region, Thread& thread, std::uint64_t& counter);
  void write_table(TrapState& state);
  // Some for each time that intervals are drawn; who has many more goes on with calls.
  void allow_signals();
  void count_signal();
  void give_up();

  arena::Writer& arena_;
  TreePool& trees_;
  const SiteTable& sites_;
  StackSlots& stack_;
  const Intervals intervals_;
  const bool hashes_;
  const std::function<void(JNIEnv*)> use_calls_;
  hotspot::FullDebugInfo debug_info_;
  JavaVM* vm_ = nullptr;
  std::uint64_t traps_ = 0;
  std::atomic<std::int64_t> signals_{0};  // of contexts that were not in a table, less those that are allowed
  std::atomic<bool> has_given_up_{false};
  std::atomic<bool> is_settled_{false};  // nothing is written any more
  std::mutex mutex_;                     // guards what follows
  std::unordered_map<std::uint64_t, Thread> threads_;
};

}  // namespace sonde::agent
