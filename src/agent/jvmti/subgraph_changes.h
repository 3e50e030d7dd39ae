// SPDX-License-Identifier: Apache-2.0
// Changing classes for modes subgraph and region: what is revealed goes to a thread of its own, batch by batch, and the
// thread of the program that revealed it waits, if it may.
//
// Before that, roots may run bare for a while (SubgraphOptions::begins_bare), so that what they take is known:
//
//   kSettling    they have been changed and are compiled again
//   kBare        their calls are timed
//   kRevealing   what they call is instrumented; for the rest of the recording
#pragma once

#include <jvmti.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>

#include "agent/jvmti/subgraph_reveal.h"
#include "agent/jvmti/subgraph_runtime.h"
#include "agent/sampler/own_thread.h"
#include "agent/session/batch_costs.h"
#include "agent/session/options.h"
#include "agent/session/settling.h"
#include "agent/session/subgraph_plan.h"
#include "agent/session/subgraph_trees.h"
#include "arena/writer.h"

namespace sonde::agent {

// From start to stop. What belongs to the whole recording is SubgraphTiming's.
struct Subgraph {
  enum class Phase : std::uint8_t { kSettling, kBare, kRevealing };

  Subgraph(JavaVM* java_vm, jvmtiEnv* env, SubgraphRuntime& its_runtime, arena::Writer& writer, const Options& opts,
           SubgraphTrees& its_trees, SubgraphPlan& its_plan, BatchCosts& its_costs)
      : vm(java_vm),
        jvmti(env),
        runtime(its_runtime),
        arena(writer),
        options(opts),
        trees(its_trees),
        plan(its_plan),
        reveal(env, its_plan, opts),
        settling(opts.subgraph.bare_ns / 4, opts.subgraph.settle_ns),
        costs(its_costs) {}

  JavaVM* vm;
  jvmtiEnv* jvmti;
  SubgraphRuntime& runtime;
  arena::Writer& arena;
  const Options& options;
  SubgraphTrees& trees;
  jclass virtual_thread = nullptr;  // global reference; null before JDK 21
  OwnThread thread;                 // that changes classes

  std::mutex mutex;  // guards what follows
  std::condition_variable has_work;
  std::condition_variable has_done;
  SubgraphPlan& plan;
  SubgraphReveal reveal;
  Phase phase = Phase::kSettling;
  std::chrono::steady_clock::time_point phase_end = kNever;
  Settling settling;             // in quarters of the bare time (subgraph_changes.cc)
  std::uint64_t collecting = 1;  // the number of the batch that changes go to
  std::uint64_t done = 0;
  std::uint64_t given_up = 0;       // batches that threads did not wait for to the end
  std::uint64_t last_given_up = 0;  // the number of the latest of these
  bool is_ending = false;
  bool has_ended = false;  // the thread that changes classes

  static constexpr std::chrono::steady_clock::time_point kNever{};

  BatchCosts& costs;  // of whoever changes classes: that thread, or the one that starts and stops
};

// After something was revealed, now or by another thread: the thread that changes classes sets to work, and we wait for
// it if we may. The lock is held.
void hand_over(Subgraph& s, std::unique_lock<std::mutex>& lock);

// Roots do not run bare any more. False: the JVM has no memory for that now. Without the lock, for a class may be
// prepared.
bool begin_to_reveal(Subgraph& s, JNIEnv* jni);

// Has them pass ClassFileLoadHook again, in batches; without the lock.
void change_all(Subgraph& s, JNIEnv* jni, std::span<const ClassKey> keys);
// What has been revealed so far. The lock is held, but not while classes are changed.
void change_revealed(Subgraph& s, JNIEnv* jni, std::unique_lock<std::mutex>& lock);
// What the thread does.
void change_until_end(Subgraph& s);

}  // namespace sonde::agent
