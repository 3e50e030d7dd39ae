// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/java_threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "agent/jvmti/jvm.h"
#include "agent/vm/hotspot/safe_memory.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kLargestThread = 1 << 16;

pid_t current_tid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

std::string thread_name(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return "";
  std::string name = info.name == nullptr ? "" : info.name;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  jni->DeleteLocalRef(info.thread_group);
  jni->DeleteLocalRef(info.context_class_loader);
  return name;
}

void find_own_stack(std::uint64_t& low, std::uint64_t& high) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    low = reinterpret_cast<std::uint64_t>(address);
    high = low + size;
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

JavaThreads::JavaThreads(jvmtiEnv* jvmti, JNIEnv* jni, std::optional<hotspot::Layout> layout)
    : jvmti_(jvmti), layout_(layout), virtual_thread_(find_class(jni, "java/lang/BaseVirtualThread")) {
  const jclass threads = jni->FindClass("java/lang/Thread");
  eetop_ = jni->GetFieldID(threads, "eetop", "J");
  jni->DeleteLocalRef(threads);
  jthread current = nullptr;
  if (jvmti->GetCurrentThread(&current) != JVMTI_ERROR_NONE) return;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(jni) - address_of(jni, current);
  if (offset < kLargestThread) env_offset_ = offset;
  jni->DeleteLocalRef(current);
}

std::uint64_t JavaThreads::address_of(JNIEnv* jni, jthread thread) const {
  return static_cast<std::uint64_t>(jni->GetLongField(thread, eetop_));
}

JavaThreadInfo JavaThreads::describe(JNIEnv* jni, jthread thread) const {
  const std::uint64_t address = address_of(jni, thread);
  return {.tid = 0,
          .name = thread_name(jvmti_, jni, thread),
          .java_thread = address,
          .jni_env = env_offset_ != 0 ? reinterpret_cast<void*>(address + env_offset_) : nullptr,
          .stack_low = 0,
          .stack_high = 0};
}

// As the JVM knows its stack. The thread may be ending, so its memory is read with care.
bool JavaThreads::find_stack(JavaThreadInfo& info) const {
  const auto base = hotspot::read_value<std::uint64_t>(info.java_thread + layout_->thread_stack_base);
  const auto size = hotspot::read_value<std::uint64_t>(info.java_thread + layout_->thread_stack_size);
  if (!base || !size || *size >= *base) return false;
  info.stack_high = *base;
  info.stack_low = *base - *size;
  return true;
}

bool JavaThreads::find_tid(JavaThreadInfo& info) const {
  const auto osthread = hotspot::read_value<std::uint64_t>(info.java_thread + layout_->thread_osthread);
  const auto tid = osthread ? hotspot::read_value<pid_t>(*osthread + layout_->osthread_id) : std::nullopt;
  info.tid = tid.value_or(0);
  return info.tid > 0;
}

JavaThreadInfo JavaThreads::describe_current(JNIEnv* jni, jthread thread) const {
  JavaThreadInfo info = describe(jni, thread);
  info.tid = current_tid();
  info.jni_env = jni;
  if (!layout_ || info.java_thread == 0 || !find_stack(info)) find_own_stack(info.stack_low, info.stack_high);
  return info;
}

void JavaThreads::for_each_other(JNIEnv* jni, const std::function<void(const JavaThreadInfo&)>& use,
                                 const std::function<void(pid_t)>& gone) const {
  jint count = 0;
  jthread* threads = nullptr;
  if (!layout_ || jvmti_->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  std::vector<pid_t> tids(static_cast<std::size_t>(count));
  for (jint i = 0; i < count; ++i) {
    JavaThreadInfo info = describe(jni, threads[i]);
    if (info.java_thread == 0 || !find_tid(info) || !find_stack(info) || info.tid == current_tid()) continue;
    use(info);
    tids[static_cast<std::size_t>(i)] = info.tid;
  }
  for (jint i = 0; i < count; ++i) {
    const pid_t tid = tids[static_cast<std::size_t>(i)];
    if (tid != 0 && address_of(jni, threads[i]) == 0) gone(tid);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

}  // namespace sonde::agent
