// SPDX-License-Identifier: Apache-2.0
// A profiling agent written by the user (java/api, docs/user/agents.md): it is loaded into a class loader of its own
// and called on a thread of its own. Threads of the program ask and wait for the answer, for as long as the limit
// allows (Mailbox). So the agent can block, throw or loop without harm: it is switched off, and the program goes on.
//
// The agent's thread and all threads that it makes are marked (SondeRT.OWN): nothing that they do is counted.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/session/mailbox.h"
#include "agent/session/method_names.h"
#include "agent/session/options.h"
#include "agent/session/site_table.h"
#include "agent/session/tree_view.h"
#include "arena/writer.h"

namespace sonde::agent {

class UserAgent {
 public:
  UserAgent(arena::Writer& arena, const Options& options, jvmtiEnv* jvmti, const MethodNames& names,
            const SiteTable& sites);

  // At VMInit, before anything is counted. Returns when the agent is there, or when it is clear that it never will be.
  void start(JNIEnv* jni);
  // At VMDeath: nobody is asked any more.
  void close();
  [[nodiscard]] bool is_loader(JNIEnv* jni, jobject loader) const;

  // Context: the thread itself. All return after how many bytecodes it is to ask again.
  jlong register_sampled(JNIEnv* jni, jobject thread);
  jlong sample(JNIEnv* jni, jobject thread, std::span<const std::uint32_t> sites, jlong bytecodes);
  jlong report(JNIEnv* jni, jobject thread, jlong tree, jlong site, bool is_new);
  // Before what it has is given to another thread. `tree` is 0 if it has none.
  void thread_ended(JNIEnv* jni, jthread thread, jlong tree);

  // For natives of org.sonde.api.AgentThread; on the agent's thread, but for finish().
  std::vector<TreeView::Callee> callees(jlong tree, jlong node);
  const MethodNames& names() { return names_; }
  bool open(jlong tree);
  jlong unreported(JNIEnv* jni, jthread thread) const;
  void failed(std::string_view what);
  void finish();

 private:
  static constexpr jint kMostFrames = 16'384;  // of a stack

  enum class Kind : std::uint8_t { kStart, kRegister, kSample, kReport, kEnd, kShutdown };
  struct Question {
    Kind kind;
    jobject thread = nullptr;  // a global reference
    jlong tree = 0;
    jlong bytecodes = 0;
    std::vector<jint> methods{};  // the outermost first
    std::vector<jlong> path{};
  };
  struct JavaMethods {
    jmethodID start, register_sampled, sample, end_sampled, register_counted, report, end_counted, shutdown;
  };

  static void JNICALL run(jvmtiEnv*, JNIEnv* jni, void* self);
  jlong ask(JNIEnv* jni, Question question);
  jlong answer(JNIEnv* jni, const Question& question);
  jthread make_thread(JNIEnv* jni);
  bool find_fields(JNIEnv* jni);
  void mark(JNIEnv* jni, jthread thread) const;
  bool load(JNIEnv* jni);
  bool load_api(JNIEnv* jni);
  jobject make_loader(JNIEnv* jni, jclass agents) const;
  bool find_methods(JNIEnv* jni);
  bool bind_natives(JNIEnv* jni);
  void forget_tree();
  // What threads count, which may be weighed.
  [[nodiscard]] jlong in_bytecodes(jlong counted) const {
    return counted / static_cast<jlong>(options_.sampling.scale());
  }
  void switch_off(const std::string& why);

  arena::Writer& arena_;
  const Options& options_;
  jvmtiEnv* const jvmti_;
  const MethodNames& names_;
  const SiteTable& sites_;
  const TreeView trees_;
  Mailbox mailbox_;
  Question question_{};                  // of who asks; for the agent's thread
  std::atomic<bool> has_ended_ = false;  // switched off, or the JVM ends
  std::atomic<std::uint32_t> failures_ = 0;
  jobject loader_ = nullptr;   // global references
  jclass java_ = nullptr;      // org.sonde.api.AgentThread
  jintArray stack_ = nullptr;  // how stacks get there
  JavaMethods methods_{};
  jfieldID site_field_ = nullptr;  // of java.lang.Thread
  jfieldID hidden_field_ = nullptr;
  jfieldID left_field_ = nullptr;
  jfieldID user_field_ = nullptr;
  jfieldID asked_field_ = nullptr;
  std::mutex reading_;   // guards what follows, and trees while they are read
  jlong open_tree_ = 0;  // the one that may be looked at
};

}  // namespace sonde::agent
