// SPDX-License-Identifier: Apache-2.0
// Java threads as the sampler wants to know them. Context: [agent], on threads the JVM knows.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <functional>
#include <optional>

#include "agent/sampler/sampler.h"
#include "agent/vm/hotspot/layout.h"

namespace sonde::agent {

class JavaThreads {
 public:
  // Without a layout only the calling thread can be described.
  JavaThreads(jvmtiEnv* jvmti, JNIEnv* jni, std::optional<hotspot::Layout> layout);

  [[nodiscard]] bool has_virtual() const { return virtual_thread_ != nullptr; }
  [[nodiscard]] bool is_virtual(JNIEnv* jni, jthread thread) const {
    return virtual_thread_ != nullptr && jni->IsInstanceOf(thread, virtual_thread_) != JNI_FALSE;
  }

  // Of the JNIEnv in a JavaThread, the JVM's own object for a thread; 0 if it is not known.
  [[nodiscard]] std::uint64_t env_offset() const { return env_offset_; }

  // The calling thread.
  [[nodiscard]] JavaThreadInfo describe_current(JNIEnv* jni, jthread thread) const;

  // Calls use(info) for all platform threads that are alive, but not for the calling one, and afterwards gone(tid) for
  // those that may have ended meanwhile. Who knows of threads that end should hold them up until this returns.
  void for_each_other(JNIEnv* jni, const std::function<void(const JavaThreadInfo&)>& use,
                      const std::function<void(pid_t)>& gone) const;

 private:
  [[nodiscard]] JavaThreadInfo describe(JNIEnv* jni, jthread thread) const;
  [[nodiscard]] std::uint64_t address_of(JNIEnv* jni, jthread thread) const;
  bool find_stack(JavaThreadInfo& info) const;
  bool find_tid(JavaThreadInfo& info) const;

  jvmtiEnv* jvmti_;
  std::optional<hotspot::Layout> layout_;
  jclass virtual_thread_ = nullptr;  // global reference for the life of the process; null before JDK 21
  jfieldID eetop_ = nullptr;         // java.lang.Thread: JavaThread*
  std::uint64_t env_offset_ = 0;
};

}  // namespace sonde::agent
