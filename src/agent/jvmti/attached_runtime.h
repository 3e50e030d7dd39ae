// SPDX-License-Identifier: Apache-2.0
// java.lang.SondeRT and its friends in a JVM that runs already: defined once, with SondeThread in the place of Thread,
// and kept for good, since classes of the boot loader do not go away. While nothing is counted they are empty and their
// gate is shut. Context: [agent].
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <mutex>

#include "base/result.h"

namespace sonde::agent {

// Who counts. The natives of the runtime, on Java threads that count, ask it.
class CountingThreads {
 public:
  // A thread was seen for the first time: `own` is its SondeThread, `number` its own. On that thread.
  virtual void thread_enlisted(JNIEnv* jni, jobject own, jlong number) = 0;
  virtual std::uint64_t new_tree(JNIEnv* jni) = 0;
  virtual bool grow(std::uint64_t tree, std::uint32_t size) = 0;
  // For SondeSampling, as in BytecodeSampling.
  virtual jlong find_callers(JNIEnv* jni, jlong region) = 0;

 protected:
  ~CountingThreads() = default;
};

class AttachedRuntime {
 public:
  // One per process. Defines the classes at the first call; `bias` takes the place of SondeRT.BASE.
  static Result<AttachedRuntime*> get(JNIEnv* jni, std::uint64_t bias);

  // From now on natives ask `counting`; null: nobody, and no native is under way when this returns.
  void set_counting(JNIEnv* jni, CountingThreads* counting);

  void set_long(JNIEnv* jni, jclass cls, const char* field, std::uint64_t value);
  void set_bool(JNIEnv* jni, jclass cls, const char* field, bool value);

  // The number of a thread.
  jlong number_of(JNIEnv* jni, jthread thread) const;
  // The object of a thread; null if it has none.
  jobject find(JNIEnv* jni, jlong tid);
  void remove(JNIEnv* jni, jlong tid);
  template <typename Visit>  // void(jobject)
  void for_each_thread(JNIEnv* jni, Visit&& visit);
  // All threads are unknown again.
  void clear_threads(JNIEnv* jni);

  // Global references.
  jclass counting = nullptr;   // java.lang.SondeRT
  jclass call_tree = nullptr;  // java.lang.SondeTree
  jclass flat = nullptr;
  jclass sampling = nullptr;  // java.lang.SondeSampling
  jclass thread = nullptr;    // java.lang.SondeThread
  // Of SondeThread.
  jfieldID site = nullptr;
  jfieldID tree = nullptr;
  jfieldID root = nullptr;
  jfieldID path = nullptr;

  bool bind(JNIEnv* jni);
  jobject enlist(JNIEnv* jni, jlong tid);
  bool is_nobody(JNIEnv* jni, jobject own) const { return jni->IsSameObject(own, nobody_) != JNI_FALSE; }

 private:
  AttachedRuntime() = default;
  Result<void> define(JNIEnv* jni, std::uint64_t bias);
  bool find_fields(JNIEnv* jni);

  jobjectArray table_ = nullptr;  // global reference
  jobject nobody_ = nullptr;      // for threads in the runtime when nothing is counted, or the Java heap is full
  jfieldID tid_ = nullptr;
  jfieldID next_ = nullptr;
  jfieldID thread_number_ = nullptr;  // of java.lang.Thread
  std::mutex table_mutex_;            // guards the table's content; no Java code runs with it
};

template <typename Visit>
void AttachedRuntime::for_each_thread(JNIEnv* jni, Visit&& visit) {
  const std::lock_guard lock(table_mutex_);
  const jsize places = jni->GetArrayLength(table_);
  for (jsize i = 0; i < places; ++i) {
    for (jobject own = jni->GetObjectArrayElement(table_, i); own != nullptr;) {
      visit(own);
      const jobject next = jni->GetObjectField(own, next_);
      jni->DeleteLocalRef(own);
      own = next;
    }
  }
}

}  // namespace sonde::agent
