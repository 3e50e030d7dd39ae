// SPDX-License-Identifier: Apache-2.0
// Modes subgraph and region in a JVM that runs: methods are instrumented by retransformation and put back in the end,
// so that it makes no difference whether the agent was there from the start.
#pragma once

#include <jvmti.h>

#include "agent/session/options.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

// While the JVM starts: the recording begins at VMInit and ends with the JVM.
Result<void> prepare_subgraph(JavaVM* vm, arena::Writer& arena, const Options& options);

// In the live phase: one recording at a time. `arena` and `options` must live until the end.
Result<void> begin_subgraph(JavaVM* vm, JNIEnv* jni, arena::Writer& arena, const Options& options);
// Everything is as it was when this returns; only frames that were on the stack still run what was inserted, and that
// changes nothing any more.
void end_subgraph(JNIEnv* jni);

}  // namespace sonde::agent
