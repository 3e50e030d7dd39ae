// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on a Java thread that takes a sample. The stack of this thread in terms of call sites: only methods
// that are instrumented and call others are of interest. The JVM is asked for stacks that we cannot read ourselves.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/session/generations.h"
#include "agent/session/shadow_stacks.h"
#include "agent/session/site_table.h"
#include "agent/vm/hotspot/known_frames.h"
#include "agent/vm/native/trapped_stores_x64.h"

namespace sonde::agent {

class StackSlots final : public hotspot::SitesByName {
 public:
  StackSlots(jvmtiEnv* jvmti, SiteTable& sites) : jvmti_(jvmti), sites_(sites) {}

  // Once the JVM is initialised, before the first sample. `most`: contexts have fewer sites.
  void begin(JNIEnv* jni, std::uint32_t most);

  // Writes the call sites of all callers of the sampled method, which is the one that called SondeSampling, into the
  // region of this thread (shadow_stacks.h), the outermost first, and how many there are. Those that are as they were
  // are left as SondeSteps has marked them. Returns what SondeSteps knows them by, their hash; 0 if it has to find out.
  std::uint64_t find_callers(JNIEnv* jni, std::uint64_t region);

  // The same for a thread at a trapped store, where the JVM cannot be asked: all its call sites, and their hash. False,
  // and none, if they cannot be read.
  bool find_callers_at(JNIEnv* jni, const TrappedStore& store, std::uint64_t region,
                       std::vector<std::uint32_t>& callers, std::uint64_t& hash);
  [[nodiscard]] bool reads_stacks() const { return layout_.has_value(); }

  hotspot::MethodSites sites_of(const std::string& method, std::uint32_t code_length) override;

 private:
  // As the JVM describes it.
  struct Frame {
    const hotspot::MethodSites* method;
    std::int64_t bci;
  };
  using Frames = std::span<const Frame>;

  // The same for a stack with frames that cannot be known.
  void ask(JNIEnv* jni, RegionUse& use, std::uint32_t* slots);
  // As many call sites as there is room for; returns how many.
  static std::uint32_t write(Frames frames, bool cut, std::uint32_t* slots);
  [[nodiscard]] std::uint64_t thread_of(JNIEnv* jni) const {
    return reinterpret_cast<std::uint64_t>(jni) - env_offset_;
  }
  // Frames from the innermost outwards, as the JVM describes them; the next call of this thread overwrites them.
  Frames describe(JNIEnv* jni, std::span<const jvmtiFrameInfo> found);
  // All of them; only the outermost ones, and `cut`, if there are too many.
  Frames describe_all(JNIEnv* jni, bool& cut);
  const hotspot::MethodSites& find(JNIEnv* jni, jmethodID id);
  hotspot::MethodSites resolve(JNIEnv* jni, jmethodID id);
  [[nodiscard]] bool is_as_jvm_says(JNIEnv* jni, const hotspot::KnownPath& path);

  jvmtiEnv* jvmti_;
  SiteTable& sites_;
  std::optional<hotspot::Layout> layout_;  // none: that of this JVM is not known
  Generations<hotspot::KnownFrames> known_;
  std::uint64_t env_offset_ = 0;
  std::uint32_t most_ = 0;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<jmethodID, hotspot::MethodSites> methods_;
};

}  // namespace sonde::agent
