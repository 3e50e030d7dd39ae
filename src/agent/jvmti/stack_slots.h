// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on a Java thread that takes a sample. The stack of this thread, as the JVM knows it, in terms of
// call sites: only methods that are instrumented and call others are of interest.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "agent/session/site_table.h"

namespace sonde::agent {

class StackSlots {
 public:
  StackSlots(jvmtiEnv* jvmti, SiteTable& sites) : jvmti_(jvmti), sites_(sites) {}

  // Writes the call sites of all callers of the sampled method, the outermost first, but no more than `capacity`.
  // Returns how many. The sampled method is the one that called SondeSampling.
  std::int32_t fill(JNIEnv* jni, std::uint32_t* slots, std::size_t capacity);

 private:
  struct Method {
    bool is_ours = false;            // of SondeSampling or SondeSteps
    std::uint32_t first_site = 0;    // 0: not of interest
    std::vector<std::uint32_t> pcs;  // of the other sites
  };

  // Frames from the innermost outwards; only the outermost ones, and `cut`, if there are too many.
  jint frames(std::vector<jvmtiFrameInfo>& found, bool& cut) const;
  const Method& find(JNIEnv* jni, jmethodID id);
  Method resolve(JNIEnv* jni, jmethodID id);
  static std::uint32_t site_at(const Method& method, jlocation location);

  jvmtiEnv* jvmti_;
  SiteTable& sites_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<jmethodID, Method> methods_;
};

}  // namespace sonde::agent
