// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the thread that calls. Methods that native code calls: nothing in any bytecode tells of them, so
// the JNI functions that call methods are replaced by ones that look at the method first.
#pragma once

#include <jvmti.h>

namespace sonde::agent {

// `met` gets each call; the receiver is null for static methods and constructors. One at a time.
using UpcallMet = void (*)(JNIEnv* jni, jobject receiver, jmethodID method);
void watch_upcalls(jvmtiEnv* jvmti, UpcallMet met);
void unwatch_upcalls(jvmtiEnv* jvmti);

}  // namespace sonde::agent
