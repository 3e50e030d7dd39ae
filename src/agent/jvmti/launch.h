// SPDX-License-Identifier: Apache-2.0
// A recording from the JVM's first class to its last: what `sonde run` asks for. The order of things:
//
//   Agent_OnLoad         the arena; Kind::prepare: capabilities, and for counting every class that is loaded from here
//   on VMStart (early)      counting: java.lang.SondeRT is defined, before any bytecode runs VMInit Kind::start VMDeath
//   Kind::vm_ends; the recording is marked complete
#pragma once

#include <jni.h>

#include "base/result.h"

namespace sonde::agent {

// In Agent_OnLoad; `argument` is what -agentpath has behind its `=`.
Result<void> launch(JavaVM* vm, const char* argument);

}  // namespace sonde::agent
