// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. java.lang.SondeSubgraph in the JVM: one per process, defined once and used by one recording after
// the other. The tables that it looks into stay where they are as long as the process lives, for compiled code has
// their addresses.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>

#include "arena/layout.h"
#include "base/result.h"

namespace sonde::agent {

class SubgraphRuntime {
 public:
  // Nothing happens if it is defined already. `bias` takes the place of SondeRT.BASE; `natives` are those of
  // SondeSubgraph. The JVM must be past VMInit.
  Result<void> define(jvmtiEnv* jvmti, JNIEnv* jni, std::uint64_t bias, std::span<const JNINativeMethod> natives);

  // Nobody is inside, nothing has been seen. Roots run bare.
  void begin(JNIEnv* jni);
  // Whether threads may enter roots from outside.
  void set_open(JNIEnv* jni, bool is_open) { set_boolean(jni, "open", is_open); }
  // Bare calls that were before are not counted.
  static void begin_bare_round();
  // Roots do not run bare any more, and what they call is asked for. False: the JVM has no memory for that now.
  bool begin_to_ask(JNIEnv* jni);
  // No thread enters a root any more, and those inside are outside.
  void end(JNIEnv* jni);
  // The recording has ended: no thread has a tree.
  static void forget_threads();

  // Whether the calling thread is inside a root.
  [[nodiscard]] bool is_inside(JNIEnv* jni) const;
  // A byte per call site (SubgraphPlan).
  [[nodiscard]] static std::uint8_t* site_bytes();
  [[nodiscard]] std::uint64_t number_of(JNIEnv* jni, jthread thread) const;
  [[nodiscard]] arena::SubgraphEntry& entry_of(std::uint64_t thread_number) const;

  // What a call costs (papers/003, section 5.3).
  struct Cost {
    std::uint64_t inner_ps = 0;
    std::uint64_t outer_ps = 0;
    std::uint64_t inner_error_ps = 0;
    std::uint64_t outer_error_ps = 0;
  };
  // Measured on the calling thread, which is one of ours.
  Cost calibrate(JNIEnv* jni, bool cpu);

 private:
  Result<void> make_class(jvmtiEnv* jvmti, JNIEnv* jni, std::span<const JNINativeMethod> natives);
  void set_long(JNIEnv* jni, const char* field, jlong value);
  void set_boolean(JNIEnv* jni, const char* field, bool value);
  bool new_array(JNIEnv* jni, const char* field, const char* type, const char* element, jsize size);

  jclass runtime_ = nullptr;  // global reference; null: not defined
  std::uint64_t bias_ = 0;
  jfieldID thread_number_ = nullptr;
  jmethodID current_ = nullptr;
};

}  // namespace sonde::agent
