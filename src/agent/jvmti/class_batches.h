// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one call at a time. Classes that are loaded already are changed in batches: the JVM stands still
// for each, so one for every class would take long, and one for all would be felt (session/batch_costs.h).
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "agent/session/batch_costs.h"

namespace sonde::agent {

// Goes last with methods that may be called through handles. HotSpot's C1 notes in its code which methods it has
// inlined, so that the code goes when one of them is changed, but not if it came to the method through a handle and the
// code has no counters (levels 1 and 2; GraphBuilder::try_method_handle_inline): such code would run on as it is.
// Whatever inlines through a handle has inlined a method of this class before, by an ordinary call, which is noted. So
// this class is changed to what it is.
inline constexpr std::string_view kInlinedWithHandles = "java/lang/invoke/DirectMethodHandle";

using IfRefused = std::function<void(jclass)>;

// Has these classes pass ClassFileLoadHook again, as one batch. If the JVM refuses one of them, as smaller ones.
void retransform(jvmtiEnv* jvmti, std::span<const jclass> batch, BatchCosts& costs, const IfRefused& if_refused);

// Gets a class, its name ("java/lang/String") and its loader.
using IsWanted = std::function<bool(jclass, std::string_view, jobject)>;

// Has all loaded classes that `is_wanted` accepts pass ClassFileLoadHook again, and kInlinedWithHandles with the last
// of them. Returns how many of them the JVM refuses to change.
std::uint64_t retransform_loaded(jvmtiEnv* jvmti, JNIEnv* jni, const IsWanted& is_wanted, BatchCosts& costs);

}  // namespace sonde::agent
