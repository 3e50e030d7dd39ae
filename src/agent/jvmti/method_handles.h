// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the thread that is about to call. The method behind an object that stands for it.
#pragma once

#include <jni.h>

namespace sonde::agent {

// Of a java.lang.reflect.Method or Constructor, or of a direct java.lang.invoke.MethodHandle; null of a handle that is
// made from others.
jmethodID method_of_handle(JNIEnv* jni, jobject handle);

}  // namespace sonde::agent
