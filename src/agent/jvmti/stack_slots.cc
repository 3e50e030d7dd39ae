// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/stack_slots.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "agent/jvmti/java_threads.h"

namespace sonde::agent {
namespace {

constexpr jint kMaxFrames = 50'000;
constexpr std::uint32_t kSlots = ShadowStacks::kSlots;
constexpr std::uint32_t kDeep = 1'000;

std::vector<jvmtiFrameInfo>& frame_buffer(jint most) {
  static thread_local std::vector<jvmtiFrameInfo> frames;
  if (frames.size() < static_cast<std::size_t>(most)) frames.resize(static_cast<std::size_t>(most));
  return frames;
}

}  // namespace

void StackSlots::begin(JNIEnv* jni, std::uint32_t most) {
  const auto layout = hotspot::find_layout(hotspot::VmStructs::load());
  most_ = most;
  env_offset_ = JavaThreads(jvmti_, jni, std::nullopt).env_offset();
  if (!layout || env_offset_ == 0) return;
  layout_ = *layout;
  known_.replace(nullptr, std::make_unique<hotspot::KnownFrames>(*layout_, *this));
}

std::uint64_t StackSlots::find_callers(JNIEnv* jni, std::uint64_t region) {
  static thread_local hotspot::KnownPath path;
  auto* slots = reinterpret_cast<std::uint32_t*>(region);
  auto& use = *reinterpret_cast<RegionUse*>(region + RegionUse::kAt);
  const std::uint64_t seed = std::uint64_t{use.user} << 32U;
  std::uint32_t kept = 0;
  const Generations<hotspot::KnownFrames>::Use known(known_);
  const bool is_found = known.get() != nullptr && known.get()->find(thread_of(jni), region, seed, path, kept);
  if (known.get() != nullptr && known.get()->is_full()) {
    known_.replace(known.get(), std::make_unique<hotspot::KnownFrames>(*layout_, *this));
  }
  if (!is_found) {
    ask(jni, use, slots);
    return 0;
  }
#ifndef NDEBUG
  if (!is_as_jvm_says(jni, path)) __builtin_trap();
#endif
  // A virtual thread may have run elsewhere since.
  const auto writer = reinterpret_cast<std::uint64_t>(&path);
  if (use.writer != writer) kept = 0;
  use.writer = writer;
  use.depth = std::min(path.sites_of(kept), kSlots);
  path.for_each_site(kept, [&](std::uint32_t site) {
    if (use.depth < kSlots) slots[use.depth++] = site;
  });
  return path.sites_of(path.size()) < most_ ? path.hash() : 0;
}

bool StackSlots::find_callers_at(JNIEnv* jni, const TrappedStore& store, std::uint64_t region,
                                 std::vector<std::uint32_t>& callers, std::uint64_t& hash) {
  static thread_local hotspot::KnownPath path;
  callers.clear();
  std::uint32_t kept = 0;
  const Generations<hotspot::KnownFrames>::Use known(known_);
  if (known.get() == nullptr) return false;
  const bool is_found = known.get()->find_from(thread_of(jni), store.pc, store.sp, region, 0, path, kept);
  if (known.get()->is_full()) {
    known_.replace(known.get(), std::make_unique<hotspot::KnownFrames>(*layout_, *this));
  }
  if (!is_found) return false;
  path.for_each_site(0, [&](std::uint32_t site) { callers.push_back(site); });
  hash = path.hash();
  if (callers.size() >= most_) callers.resize(most_ - 1);
  return true;
}

void StackSlots::ask(JNIEnv* jni, RegionUse& use, std::uint32_t* slots) {
  bool cut = false;
  const Frames frames = describe_all(jni, cut);
  use.writer = 0;
  use.depth = write(frames, cut, slots);
}

StackSlots::Frames StackSlots::describe_all(JNIEnv* jni, bool& cut) {
  jint all = 0;
  if (jvmti_->GetFrameCount(nullptr, &all) != JVMTI_ERROR_NONE) return {};
  cut = all > kMaxFrames;
  const jint wanted = std::min(all, kMaxFrames);
  std::vector<jvmtiFrameInfo>& found = frame_buffer(wanted);
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, cut ? all - wanted : 0, wanted, found.data(), &count) != JVMTI_ERROR_NONE) {
    return {};
  }
  return describe(jni, {found.data(), static_cast<std::size_t>(count)});
}

StackSlots::Frames StackSlots::describe(JNIEnv* jni, std::span<const jvmtiFrameInfo> found) {
  static thread_local std::vector<Frame> described;
  described.clear();
  const std::lock_guard lock(mutex_);
  for (const jvmtiFrameInfo& frame : found) {
    described.push_back({.method = &find(jni, frame.method), .bci = frame.location});
  }
  return described;
}

std::uint32_t StackSlots::write(Frames frames, bool cut, std::uint32_t* slots) {
  std::size_t callers = 0;  // from here on
  while (!cut && callers < frames.size() && frames[callers].method->is_ours) ++callers;
  if (!cut) ++callers;  // the sampled method
  std::uint32_t used = 0;
  for (std::size_t i = frames.size(); i-- > callers && used < kSlots;) {
    const std::uint32_t site = frames[i].method->at(frames[i].bci);
    if (site != 0) slots[used++] = site;
  }
  return used;
}

#ifndef NDEBUG
// With assertions on, the JVM is asked in any case; of deep stacks, which takes long, now and then.
bool StackSlots::is_as_jvm_says(JNIEnv* jni, const hotspot::KnownPath& path) {
  static std::atomic<std::uint32_t> deep{0};
  if (path.size() >= kDeep && ++deep % 50 != 0) return true;
  std::vector<std::uint32_t> said(kSlots);
  bool cut = false;
  const Frames frames = describe_all(jni, cut);
  said.resize(write(frames, cut, said.data()));
  std::vector<std::uint32_t> found;
  path.for_each_site(0, [&](std::uint32_t site) { found.push_back(site); });
  if (found.size() > kSlots) found.resize(kSlots);
  return cut || std::ranges::equal(found, said, [&](auto a, auto b) { return sites_.are_same(a, b); });
}
#endif

// HotSpot never gives a jmethodID to a second method, so what was found out once holds.
const hotspot::MethodSites& StackSlots::find(JNIEnv* jni, jmethodID id) {
  const auto known = methods_.find(id);
  if (known != methods_.end()) return known->second;
  return methods_.emplace(id, resolve(jni, id)).first->second;
}

hotspot::MethodSites StackSlots::resolve(JNIEnv* jni, jmethodID id) {
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
  jlocation start = 0;
  jlocation end = -1;  // as of native methods
  jvmti_->GetMethodLocation(id, &start, &end);
  return sites_of(full, static_cast<std::uint32_t>(end + 1));
}

hotspot::MethodSites StackSlots::sites_of(const std::string& method, std::uint32_t code_length) {
  // What is interpreted stores by a call.
  if (method.starts_with("java/lang/SondeSampling.") || method.starts_with("java/lang/SondeSteps.") ||
      method.starts_with("jdk/internal/misc/Unsafe.putInt(")) {
    return {.is_ours = true, .pcs = {}};
  }
  // What virtual threads begin with, which the JVM does not show.
  if (method.starts_with("jdk/internal/vm/Continuation.enter(")) return {};
  const auto sites = sites_.find(method, code_length);
  if (!sites) return {};
  return {.is_ours = false, .first_site = sites->first, .pcs = sites->pcs};
}

}  // namespace sonde::agent
