// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Has the JVM describe all instructions of what it compiles from now on, not only those at which it
// can stop: -XX:+DebugNonSafepoints, which it looks up for each compilation. JVMTI's event CompiledMethodLoad has the
// same effect, but each method that is compiled while somebody wants it gets a jmethodID, whose memory the JVM never
// frees, also not when the class is unloaded.
#pragma once

#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {

class FullDebugInfo {
 public:
  // False if the JVM does not show this flag. One that somebody set stays as it is.
  bool begin(const VmStructs& structs);
  // As before.
  void end();

 private:
  bool* changed_ = nullptr;
};

}  // namespace sonde::agent::hotspot
