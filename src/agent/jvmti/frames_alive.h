// SPDX-License-Identifier: Apache-2.0
// Context: [agent], when the JVM ends. What methods count when they end is missing for those that never do.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <string_view>

namespace sonde::agent {

// How many frames of methods with bytecode are on the stacks of all platform threads, of classes that `is_counted`
// accepts; it gets a class's name ("java/lang/String") and its loader.
std::uint64_t frames_alive(jvmtiEnv* jvmti, JNIEnv* jni,
                           const std::function<bool(std::string_view, jobject)>& is_counted);

}  // namespace sonde::agent
