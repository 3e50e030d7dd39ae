// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/class_batches.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"

namespace sonde::agent {
namespace {

constexpr std::size_t kBatch = 100;

bool is_wanted_class(jvmtiEnv* jvmti, JNIEnv* jni, jclass cls, const IsWanted& is_wanted) {
  jboolean is_modifiable = JNI_FALSE;
  if (jvmti->IsModifiableClass(cls, &is_modifiable) != JVMTI_ERROR_NONE || is_modifiable == JNI_FALSE) return false;
  char* signature = nullptr;
  if (jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  std::string_view name(signature);
  jobject loader = nullptr;
  bool wanted = false;
  if (name.starts_with('L') && jvmti->GetClassLoader(cls, &loader) == JVMTI_ERROR_NONE)
    wanted = is_wanted(cls, name.substr(1, name.size() - 2), loader);
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return wanted;
}

void retransform(jvmtiEnv* jvmti, const std::vector<jclass>& batch, BatchCosts& costs) {
  const std::uint64_t begin = monotonic_ns();
  const jvmtiError error = jvmti->RetransformClasses(static_cast<jint>(batch.size()), batch.data());
  costs.took_ns.push_back(monotonic_ns() - begin);
  if (error == JVMTI_ERROR_NONE) {
    costs.classes += batch.size();
  } else if (batch.size() == 1) {
    ++costs.refused;
  } else {
    // One that the JVM refuses spoils its whole batch.
    for (const jclass cls : batch) retransform(jvmti, {cls}, costs);
  }
}

}  // namespace

BatchSummary summary_of(const BatchCosts& costs) {
  if (costs.took_ns.empty()) return {};
  std::vector<std::uint64_t> sorted = costs.took_ns;
  std::ranges::sort(sorted);
  return {.batches = sorted.size(),
          .classes = costs.classes,
          .total_ns = std::accumulate(sorted.begin(), sorted.end(), std::uint64_t{0}),
          .p99_ns = sorted[(sorted.size() * 99 + 99) / 100 - 1],
          .longest_ns = sorted.back()};
}

void retransform_loaded(jvmtiEnv* jvmti, JNIEnv* jni, const IsWanted& is_wanted, BatchCosts& costs) {
  jint count = 0;
  jclass* loaded = nullptr;
  if (jvmti->GetLoadedClasses(&count, &loaded) != JVMTI_ERROR_NONE) return;
  std::vector<jclass> batch;
  const auto flush = [&] {
    if (!batch.empty()) retransform(jvmti, batch, costs);
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    for (const jclass cls : batch) jni->DeleteLocalRef(cls);
    batch.clear();
  };
  for (jint i = 0; i < count; ++i) {
    if (!is_wanted_class(jvmti, jni, loaded[i], is_wanted)) {
      jni->DeleteLocalRef(loaded[i]);
      continue;
    }
    batch.push_back(loaded[i]);
    if (batch.size() == kBatch) flush();
  }
  flush();
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(loaded));
}

}  // namespace sonde::agent
