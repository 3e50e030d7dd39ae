// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one call at a time. Which kind of profiling a mode of `--mode` is, in a recording of a JVM that
// runs.
#pragma once

#include <jni.h>

#include <string>
#include <vector>

#include "agent/jvmti/class_batches.h"
#include "agent/jvmti/recording.h"

namespace sonde::agent {

// `settings` are the recording's options with what was said for this mode.
Result<void> start_mode(Recording& recording, JavaVM* vm, JNIEnv* jni, const std::string& mode,
                        const Options& settings);
Result<void> stop_mode(Recording& recording, JavaVM* vm, JNIEnv* jni, const std::string& mode);

// What changing classes has cost so far.
BatchSummary batches_of(const Recording& recording);

// Those that are on.
std::vector<std::string> modes_of(const Recording& recording);

}  // namespace sonde::agent
