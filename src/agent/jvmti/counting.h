// SPDX-License-Identifier: Apache-2.0
// Calls and bytecodes of a JVM that starts: modes exact and exact:flat, and samples by bytecodes. Every class passes
// ClassFileLoadHook, the first one included, and threads keep their place in fields that are added to java.lang.Thread.
//
//   prepare              from here on every class passes ClassFileLoadHook
//   VMStart (early)      java.lang.SondeRT, SondeTree and SondeFlat are defined, before any bytecode runs
//   ClassLoad            until start: what the JVM would not verify without us is not verified
//   start                natives are bound, a user-written agent is loaded, the gate SondeRT.on opens: counting begins
//   ThreadStart          exact:flat: the thread gets its block of counters
//   ThreadEnd            the thread's call tree or block goes back to the pool
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <memory>
#include <string_view>

#include "agent/jvmti/bytecode_sampling.h"
#include "agent/jvmti/kind.h"
#include "agent/jvmti/user_agent.h"
#include "agent/session/class_instrumenter.h"
#include "agent/session/flat_blocks.h"
#include "agent/session/nowhere.h"
#include "agent/session/options.h"
#include "agent/session/tree_pool.h"
#include "agent/vm/hotspot/boot_verification.h"
#include "arena/writer.h"

namespace sonde::agent {

// One per process, and never destroyed: callbacks may still run while the process exits.
class Counting final : public Kind {
 public:
  Counting(JavaVM* vm, arena::Writer& arena, const Options& options)
      : vm_(vm), arena_(arena), options_(options), trees_(arena, methods_, options), flat_blocks_(arena) {}

  [[nodiscard]] std::string_view name() const override;
  Result<void> prepare() override;
  Result<void> start(JNIEnv* jni) override;
  void stop(JNIEnv* jni) override;

  // What the JVM and SondeRT tell (counting.cc).
  void vm_started(JNIEnv* jni);
  void thread_started(JNIEnv* jni, jthread thread);
  void thread_ended(JNIEnv* jni, jthread thread);
  void class_comes(JNIEnv* jni, jobject loader, const char* name, Bytes bytes, jint* new_size,
                   unsigned char** new_bytes);
  void class_loaded() { boot_verification_.spare_new(); }
  std::uint64_t new_tree(JNIEnv* jni, jthread thread);
  jlong ask(JNIEnv* jni, jobject thread, jlong tree, jlong site, bool is_new) {
    return user_agent_->report(jni, thread, tree, site, is_new);
  }
  bool grow(std::uint64_t tree, std::uint32_t size) { return trees_.grow(tree, size); }

 private:
  bool enable_events();
  bool bind_natives(JNIEnv* jni);
  bool find_fields(JNIEnv* jni);
  bool open_flat_gate(JNIEnv* jni);
  [[nodiscard]] bool is_jdk_loader(JNIEnv* jni, jobject loader) const;
  [[nodiscard]] bool is_counted_application(JNIEnv* jni, std::string_view class_name, jobject loader) const;
  void store_heap_trees(JNIEnv* jni);

  JavaVM* vm_;
  arena::Writer& arena_;
  const Options& options_;
  MethodTable methods_;
  TreePool trees_;
  FlatBlocks flat_blocks_;
  std::unique_ptr<ClassInstrumenter> instrumenter_;
  hotspot::BootVerification boot_verification_;
  ShadowStacks stacks_{kBias};
  std::unique_ptr<BytecodeSampling> sampling_;  // null: everything is counted
  std::unique_ptr<UserAgent> user_agent_;       // null: there is none
  jvmtiEnv* jvmti_ = nullptr;
  jclass runtime_ = nullptr;           // global reference to java.lang.SondeRT
  jclass tree_runtime_ = nullptr;      // global reference to java.lang.SondeTree
  jclass flat_runtime_ = nullptr;      // global reference to java.lang.SondeFlat
  jclass heap_node_ = nullptr;         // global reference to java.lang.SondeNode; only with --scheme paper
  jclass virtual_thread_ = nullptr;    // global reference to java.lang.BaseVirtualThread; null before JDK 21
  jobject platform_loader_ = nullptr;  // global reference; null until VMInit
  bool natives_bound_ = false;
  jfieldID site_field_ = nullptr;
  jfieldID tree_field_ = nullptr;
  jfieldID root_field_ = nullptr;  // null: counting has not begun
};

}  // namespace sonde::agent
