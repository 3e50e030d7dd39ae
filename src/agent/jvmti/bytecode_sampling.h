// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What deterministic sampling needs from the JVM: java.lang.SondeSampling, a shadow stack for each
// thread from its first instruction to its last, and at its end what it executed since its last sample.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "agent/jvmti/sample_traps.h"
#include "agent/jvmti/stack_slots.h"
#include "agent/jvmti/user_agent.h"
#include "agent/session/sampling_options.h"
#include "agent/session/shadow_stacks.h"
#include "agent/session/tree_pool.h"
#include "arena/writer.h"

namespace sonde::agent {

class BytecodeSampling {
 public:
  BytecodeSampling(arena::Writer& arena, TreePool& trees, const SamplingOptions& options, jvmtiEnv* jvmti,
                   SiteTable& sites, ShadowStacks& stacks)
      : arena_(arena),
        trees_(trees),
        options_(options),
        jvmti_(jvmti),
        sites_(sites),
        stack_slots_(jvmti, sites),
        stacks_(stacks) {}

  // Samples that a user-written agent asks for go to it.
  void set_user_agent(UserAgent& agent) { user_agent_ = &agent; }

  // Before any bytecode runs.
  bool define(JNIEnv* jni);
  bool bind_natives(JNIEnv* jni);
  // Instead of both, after attach: SondeSampling is there.
  void use(jclass runtime) { runtime_ = runtime; }
  // At VMInit, before the gate opens. False if java.lang.Thread has not the fields it needs.
  bool begin(JNIEnv* jni);
  // The same after attach, where objects of another class have what belongs to a thread: `threads`.
  bool begin_with(JNIEnv* jni, jclass threads);

  // On the thread itself; `thread` is a Thread, or what has its fields. `tree` is its call tree, 0 if it has none.
  void thread_started(JNIEnv* jni, jobject thread);
  void thread_ended(JNIEnv* jni, jobject thread, std::uint64_t tree);
  // A virtual thread is about to run: samples are calls from now on. Compiled code without them is thrown away.
  void use_calls(JNIEnv* jni);
  // Its call tree, 0 if it has none.
  [[nodiscard]] std::uint64_t tree_of(JNIEnv* jni, jobject thread) const;
  // After attach: the thread may be sampled again, from where it was when sampling stopped.
  void thread_goes_on(JNIEnv* jni, jobject thread);
  // The JVM ends while threads are alive: what they executed is added, as far as their methods have ended.
  void settle_living(JNIEnv* jni);
  // The same of one that counts no more.
  void settle(JNIEnv* jni, jobject thread);
  // For SondeSampling: the call sites on the stack of the current thread (stack_slots.h).
  jlong find_callers(JNIEnv* jni, jlong region);
  // For SondeSampling: samples of this thread are calls from now on.
  void end_traps(std::uint64_t region) { traps_->end_traps(region); }
  // For SondeSampling: how many bytecodes until it asks again.
  jlong register_thread(JNIEnv* jni, jobject thread) { return user_agent_->register_sampled(jni, thread); }
  jlong ask(JNIEnv* jni, jobject thread, std::span<const std::uint32_t> callers, jint first, jlong bytecodes);

 private:
  // Adds what a thread executed since its last sample to the root of its call tree. False if there is nothing to add,
  // or no memory.
  bool add_rest(JNIEnv* jni, jobject thread, std::uint64_t tree, std::uint64_t arena::Node::*sum);
  // What the agent itself knows of a thread that is sampled by traps; null if it is not.
  [[nodiscard]] TrapState* trap_state_of(JNIEnv* jni, jobject thread) const;
  void begin_traps(JNIEnv* jni);
  // The root of its call tree; if it has none, of one for all such threads; null if there is no memory.
  arena::Node* root_of_thread(std::uint64_t tree);
  template <typename Visit>
  void for_each_thread(JNIEnv* jni, Visit&& visit);

  arena::Writer& arena_;
  TreePool& trees_;
  const SamplingOptions options_;
  jvmtiEnv* jvmti_;
  SiteTable& sites_;
  StackSlots stack_slots_;
  std::unique_ptr<SampleTraps> traps_;  // null: samples are calls
  std::once_flag calls_;
  std::atomic<bool> uses_calls_{false};  // though there are traps
  ShadowStacks& stacks_;
  UserAgent* user_agent_ = nullptr;
  jclass runtime_ = nullptr;  // global reference to java.lang.SondeSampling
  jfieldID site_field_ = nullptr;
  jfieldID tree_field_ = nullptr;
  jfieldID left_field_ = nullptr;
  jfieldID quota_field_ = nullptr;
  jfieldID region_field_ = nullptr;
  jfieldID path_field_ = nullptr;
  bool begun_ = false;
  std::mutex mutex_;  // guards what follows
  std::uint64_t common_tree_ = 0;
};

}  // namespace sonde::agent
