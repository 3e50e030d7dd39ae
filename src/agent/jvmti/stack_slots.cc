// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/stack_slots.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace sonde::agent {
namespace {

constexpr jint kMaxFrames = 20'000;

}  // namespace

jint StackSlots::frames(std::vector<jvmtiFrameInfo>& found, bool& cut) const {
  found.resize(kMaxFrames);
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, kMaxFrames, found.data(), &count) != JVMTI_ERROR_NONE) return 0;
  jint all = count;
  cut = count == kMaxFrames && jvmti_->GetFrameCount(nullptr, &all) == JVMTI_ERROR_NONE && all > count;
  if (cut) jvmti_->GetStackTrace(nullptr, all - kMaxFrames, kMaxFrames, found.data(), &count);
  return count;
}

std::int32_t StackSlots::fill(JNIEnv* jni, std::uint32_t* slots, std::size_t capacity) {
  static thread_local std::vector<jvmtiFrameInfo> found;
  bool cut = false;
  const jint count = frames(found, cut);
  const std::lock_guard lock(mutex_);
  jint sampled = cut ? -1 : 0;
  while (!cut && sampled < count && find(jni, found[static_cast<std::size_t>(sampled)].method).is_ours) ++sampled;
  std::size_t used = 0;
  for (jint i = count - 1; i > sampled && used < capacity; --i) {
    const jvmtiFrameInfo& frame = found[static_cast<std::size_t>(i)];
    const Method& method = find(jni, frame.method);
    if (method.first_site != 0) slots[used++] = site_at(method, frame.location);
  }
  return static_cast<std::int32_t>(used);
}

std::uint32_t StackSlots::site_at(const Method& method, jlocation location) {
  const auto pc = static_cast<std::uint32_t>(location);
  const auto site = std::ranges::lower_bound(method.pcs, pc);
  const bool is_call = site != method.pcs.end() && *site == pc;
  return method.first_site + (is_call ? 1 + static_cast<std::uint32_t>(site - method.pcs.begin()) : 0);
}

// HotSpot never gives a jmethodID to a second method, so what was found out once holds.
const StackSlots::Method& StackSlots::find(JNIEnv* jni, jmethodID id) {
  const auto known = methods_.find(id);
  if (known != methods_.end()) return known->second;
  return methods_.emplace(id, resolve(jni, id)).first->second;
}

StackSlots::Method StackSlots::resolve(JNIEnv* jni, jmethodID id) {
  jclass owner = nullptr;
  if (jvmti_->GetMethodDeclaringClass(id, &owner) != JVMTI_ERROR_NONE) return {};
  char* signature = nullptr;
  char* name = nullptr;
  char* descriptor = nullptr;
  std::string full;
  if (jvmti_->GetClassSignature(owner, &signature, nullptr) == JVMTI_ERROR_NONE &&
      jvmti_->GetMethodName(id, &name, &descriptor, nullptr) == JVMTI_ERROR_NONE) {
    const std::string_view type(signature);  // "Ljava/util/Map;"
    full = std::string(type.substr(1, type.size() - 2)) + "." + name + descriptor;
  }
  for (char* text : {signature, name, descriptor}) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text));
  jni->DeleteLocalRef(owner);
  if (full.starts_with("java/lang/SondeSampling.") || full.starts_with("java/lang/SondeSteps.")) {
    return {.is_ours = true, .pcs = {}};
  }
  const auto sites = sites_.find(full);
  if (!sites) return {};
  return {.is_ours = false, .first_site = sites->first, .pcs = sites->pcs};
}

}  // namespace sonde::agent
