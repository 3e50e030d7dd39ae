// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/class_batches.h"

#include <algorithm>
#include <vector>

#include "agent/vm/hotspot/late_compilation.h"
#include "agent/vm/hotspot/perf_counters.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

enum class Turn : std::uint8_t { kNever, kNow, kLast };

Turn turn_of(jvmtiEnv* jvmti, JNIEnv* jni, jclass cls, const IsWanted& is_wanted) {
  jboolean is_modifiable = JNI_FALSE;
  if (jvmti->IsModifiableClass(cls, &is_modifiable) != JVMTI_ERROR_NONE || is_modifiable == JNI_FALSE)
    return Turn::kNever;
  char* signature = nullptr;
  if (jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return Turn::kNever;
  std::string_view name(signature);
  jobject loader = nullptr;
  Turn turn = Turn::kNever;
  if (name.starts_with('L') && jvmti->GetClassLoader(cls, &loader) == JVMTI_ERROR_NONE) {
    name = name.substr(1, name.size() - 2);
    if (is_wanted(cls, name, loader)) turn = Turn::kNow;
    if (loader == nullptr && name == kInlinedWithHandles) turn = Turn::kLast;
  }
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return turn;
}

}  // namespace

void retransform(jvmtiEnv* jvmti, std::span<const jclass> batch, BatchCosts& costs, const IfRefused& if_refused) {
  if (batch.empty()) return;
  const hotspot::Stopped before = hotspot::stopped_so_far();
  const std::uint64_t begin = monotonic_ns();
  const jvmtiError error = jvmti->RetransformClasses(static_cast<jint>(batch.size()), batch.data());
  const std::uint64_t took = monotonic_ns() - begin;
  // If the JVM does not tell, it was less than all of it.
  costs.note(batch.size(), took,
             std::min(took, hotspot::stopped_between(before, hotspot::stopped_so_far()).value_or(took)));
  if (error == JVMTI_ERROR_NONE) return;
  costs.refuse(batch.size());
  if (batch.size() == 1) return if_refused(batch.front());
  // One that the JVM refuses spoils its whole batch.
  const auto half = batch.size() / 2;
  retransform(jvmti, batch.first(half), costs, if_refused);
  retransform(jvmti, batch.subspan(half), costs, if_refused);
}

std::uint64_t retransform_loaded(jvmtiEnv* jvmti, JNIEnv* jni, const IsWanted& is_wanted, BatchCosts& costs) {
  jint count = 0;
  jclass* loaded = nullptr;
  if (jvmti->GetLoadedClasses(&count, &loaded) != JVMTI_ERROR_NONE) return 0;
  const hotspot::LateCompilation until_all_are_changed;
  std::uint64_t refused = 0;
  std::vector<jclass> batch;
  jclass last = nullptr;
  bool has_changed = false;
  const auto flush = [&] {
    retransform(jvmti, batch, costs, [&](jclass) { ++refused; });
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    for (const jclass cls : batch) jni->DeleteLocalRef(cls);
    batch.clear();
    has_changed = true;
  };
  for (jint i = 0; i < count; ++i) {
    switch (turn_of(jvmti, jni, loaded[i], is_wanted)) {
      case Turn::kNever: jni->DeleteLocalRef(loaded[i]); break;
      case Turn::kNow: batch.push_back(loaded[i]); break;
      case Turn::kLast: last = loaded[i]; break;
    }
    if (batch.size() >= costs.next_size()) flush();
  }
  if (last != nullptr && (has_changed || !batch.empty())) batch.push_back(last);
  flush();
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(loaded));
  return refused;
}

}  // namespace sonde::agent
