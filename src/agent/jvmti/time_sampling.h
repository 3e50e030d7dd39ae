// SPDX-License-Identifier: Apache-2.0
// CPU and wall-clock sampling as the JVM sees it: a JVMTI environment of its own, so that a JVM that is only sampled
// has no class hook and keeps its class data sharing, and a JVM that is also instrumented is not disturbed.
#pragma once

#include <jni.h>

#include "agent/session/options.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

// In Agent_OnLoad. The arena lives as long as the process. Sampling begins at VMInit.
Result<void> start_time_sampling(JavaVM* vm, arena::Writer& arena, const Options& options);

}  // namespace sonde::agent
