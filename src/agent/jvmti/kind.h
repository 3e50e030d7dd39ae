// SPDX-License-Identifier: Apache-2.0
// A kind of profiling inside a recording: CPU and wall-clock samples, counting, whatever else comes. A recording starts
// and stops its kinds, each in one of two ways:
//
//   a JVM that starts     prepare in Agent_OnLoad, start at VMInit, vm_ends at VMDeath
//   a JVM that runs       start and stop on command, any number of times
//
// Context: [agent], one call at a time. A kind has a JVMTI environment of its own: its events and capabilities are
// nobody else's, and VMInit and VMDeath are the recording's business.
#pragma once

#include <jni.h>

#include <string_view>

#include "base/result.h"

namespace sonde::agent {

class Kind {
 public:
  virtual ~Kind() = default;
  Kind() = default;
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  // The word in --mode: "cpu", "exact:flat".
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Before the JVM loads its first class: what can be had only now.
  virtual Result<void> prepare() { return {}; }
  // On a thread that the JVM knows. After an error nothing of it remains.
  virtual Result<void> start(JNIEnv* jni) = 0;
  // Everything that start did is undone, and everything that was recorded is in the arena.
  virtual void stop(JNIEnv* jni) = 0;
  // The same when the JVM ends: what would be undone goes with it.
  virtual void vm_ends(JNIEnv* jni) { stop(jni); }
  // The recording has ended, in a JVM that runs on: nothing comes after this.
  virtual void retire(JNIEnv*) {}
};

}  // namespace sonde::agent
