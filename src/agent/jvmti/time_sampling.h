// SPDX-License-Identifier: Apache-2.0
// CPU and wall-clock sampling as the JVM sees it: a JVMTI environment of its own, so that a JVM that is only sampled
// has no class hook and keeps its class data sharing, and a JVM that is also instrumented is not disturbed.
//
// One recording at a time; start and stop may follow each other as often as one likes. What stays between them: an
// environment without events, the signal handler, which then does nothing, and the address space of the slots.
#pragma once

#include <jni.h>

#include "agent/session/options.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

// In Agent_OnLoad: sampling begins at VMInit, and what goes wrong then is said on stderr. In a running JVM, on a thread
// it knows: sampling begins now. The arena lives until stop_time_sampling returns, or as long as the process.
Result<void> start_time_sampling(JavaVM* vm, arena::Writer& arena, const Options& options);

// Any thread that is not inside of a callback. All that was sampled is in the arena; no timers, no threads and no
// memory of the recording are left. Nothing happens if nothing was started.
void stop_time_sampling();

}  // namespace sonde::agent
