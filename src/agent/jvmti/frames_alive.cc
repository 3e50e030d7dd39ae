// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/frames_alive.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::agent {
namespace {

class FrameCounter {
 public:
  FrameCounter(jvmtiEnv* jvmti, JNIEnv* jni, const std::function<bool(std::string_view, jobject)>& is_counted)
      : jvmti_(jvmti), jni_(jni), is_counted_(is_counted) {}

  std::uint64_t frames_of(jthread thread) {
    jint count = 0;
    if (jvmti_->GetFrameCount(thread, &count) != JVMTI_ERROR_NONE || count == 0) return 0;
    frames_.resize(static_cast<std::size_t>(count));
    if (jvmti_->GetStackTrace(thread, 0, count, frames_.data(), &count) != JVMTI_ERROR_NONE) return 0;
    std::uint64_t counted = 0;
    for (jint i = 0; i < count; ++i) {
      const jvmtiFrameInfo& frame = frames_[static_cast<std::size_t>(i)];
      if (frame.location >= 0 && is_counted(frame.method)) ++counted;  // -1 in native methods
    }
    return counted;
  }

 private:
  bool is_counted(jmethodID method) {
    const auto [known, is_new] = known_.try_emplace(method, false);
    if (is_new) known->second = ask(method);
    return known->second;
  }

  bool ask(jmethodID method) {
    jclass cls = nullptr;
    jobject loader = nullptr;
    char* signature = nullptr;
    if (jvmti_->GetMethodDeclaringClass(method, &cls) != JVMTI_ERROR_NONE) return false;
    bool result = false;
    if (jvmti_->GetClassLoader(cls, &loader) == JVMTI_ERROR_NONE &&
        jvmti_->GetClassSignature(cls, &signature, nullptr) == JVMTI_ERROR_NONE) {
      const std::string_view name(signature);  // "La/B;", and of hidden classes, which nobody counts, "La/B.0x..;"
      const bool is_hidden = name.find('.') != std::string_view::npos;
      result = !is_hidden && name.size() > 2 && is_counted_(name.substr(1, name.size() - 2), loader);
      jvmti_->Deallocate(reinterpret_cast<unsigned char*>(signature));
    }
    jni_->DeleteLocalRef(loader);
    jni_->DeleteLocalRef(cls);
    return result;
  }

  jvmtiEnv* jvmti_;
  JNIEnv* jni_;
  const std::function<bool(std::string_view, jobject)>& is_counted_;
  std::vector<jvmtiFrameInfo> frames_;
  std::unordered_map<jmethodID, bool> known_;
};

}  // namespace

std::uint64_t frames_alive(jvmtiEnv* jvmti, JNIEnv* jni,
                           const std::function<bool(std::string_view, jobject)>& is_counted) {
  jint count = 0;
  jthread* threads = nullptr;
  if (jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return 0;
  FrameCounter counter(jvmti, jni, is_counted);
  std::uint64_t frames = 0;
  for (jint i = 0; i < count; ++i) {
    frames += counter.frames_of(threads[i]);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
  return frames;
}

}  // namespace sonde::agent
