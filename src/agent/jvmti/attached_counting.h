// SPDX-License-Identifier: Apache-2.0
// Modes exact, exact:flat and bytecode in a JVM that runs: its classes are rewritten when counting starts and are what
// they were when it stops.
//
//   start     classes that are loaded pass ClassFileLoadHook again, and those that are loaded from now on; then the
//             gate opens
//   stop      the gate shuts, and the classes pass the JVM once more without us
//
// A method that runs while its class is changed runs on as it was. So what was running when counting began is not
// counted, and what it calls hangs at the root of its thread; and what is running when counting stops keeps its probes
// until it ends, but the gate is shut. If such a method is still there in a later recording, its addresses are foreign
// (SondeRT.isForeign), which is why an arena that has been counted in leaves memory behind at its addresses
// (arena::Writer::leave_memory). Its number is that of the same method in the later recording, if it is in it at all.
//
// Samples have no shadow stack here, which would know nothing of what was running: the JVM is asked for each.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "agent/jvmti/attached_runtime.h"
#include "agent/jvmti/bytecode_sampling.h"
#include "agent/jvmti/class_batches.h"
#include "agent/jvmti/jvm.h"
#include "agent/jvmti/kind.h"
#include "agent/session/class_instrumenter.h"
#include "agent/session/flat_blocks.h"
#include "agent/session/options.h"
#include "agent/session/tree_pool.h"
#include "arena/writer.h"

namespace sonde::agent {

class AttachedCounting final : public Kind, private CountingThreads {
 public:
  // `options` say which of them; they stay as they are.
  AttachedCounting(JavaVM* vm, arena::Writer& arena, Options options);
  ~AttachedCounting() override;

  [[nodiscard]] std::string_view name() const override;
  Result<void> start(JNIEnv* jni) override;
  void stop(JNIEnv* jni) override;
  void vm_ends(JNIEnv* jni) override;
  void retire(JNIEnv* jni) override;

  // Whether it is the same with the same settings.
  [[nodiscard]] bool is_like(const AttachedCounting& other) const {
    return name() == other.name() && options_.sampling.is_like(other.options_.sampling);
  }
  [[nodiscard]] BatchSummary batches() const { return costs_.summary(); }

  // What the JVM tells (attached_counting.cc).
  void thread_ended(JNIEnv* jni, jthread thread);
  void class_loaded(JNIEnv* jni, jobject loader, Bytes bytes, jint* new_size, unsigned char** new_bytes);

 private:
  void thread_enlisted(JNIEnv* jni, jobject own, jlong number) override;
  std::uint64_t new_tree(JNIEnv* jni) override;
  bool grow(std::uint64_t tree, std::uint32_t size) override { return trees_.grow(tree, size); }
  jlong find_callers(JNIEnv* jni, jlong region) override {
    return sampling_ ? sampling_->find_callers(jni, region) : 0;
  }

  Result<void> set_up(JNIEnv* jni);
  Result<void> ask_for_events();
  void open_gate(JNIEnv* jni);
  void shut_gate(JNIEnv* jni);
  void change_classes(JNIEnv* jni);
  void restore_classes(JNIEnv* jni);
  [[nodiscard]] ThreadFacts current_thread(JNIEnv* jni) const;
  [[nodiscard]] bool is_jdk_loader(JNIEnv* jni, jobject loader) const;
  [[nodiscard]] bool is_selected(JNIEnv* jni, std::string_view class_name, jobject loader) const;

  JavaVM* vm_;
  arena::Writer& arena_;
  const Options options_;
  TreePool trees_;
  FlatBlocks flat_blocks_;
  std::unique_ptr<ClassInstrumenter> instrumenter_;  // null until the first start
  std::unique_ptr<BytecodeSampling> sampling_;       // null: everything is counted
  AttachedRuntime* runtime_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  jclass virtual_thread_ = nullptr;  // global references
  jobject platform_loader_ = nullptr;
  BatchCosts costs_;
  std::mutex ended_mutex_;   // guards what follows
  std::deque<jlong> ended_;  // numbers of threads that have ended last: they may still run something
};

}  // namespace sonde::agent
