// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Small questions to the JVM that everybody has.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::agent {

// One line on the program's stderr.
void say(const std::string& message);

// An environment of our own; null if the JVM has no JVMTI of version 11.
jvmtiEnv* new_environment(JavaVM* vm);

std::string system_property(jvmtiEnv* jvmti, const char* name);

// A class of the JDK, as a global reference; null and no pending exception if it does not exist.
jclass find_class(JNIEnv* jni, const char* name);
// A new class of the boot loader, as a global reference; null if it cannot be defined.
jclass define_class(JNIEnv* jni, const char* name, Bytes bytes);
// Classes are initialised when they are first used, and never if that fails. Ours may be used first when the stack of a
// thread is full, so that is done before. False and no pending exception if one of them does not exist.
bool initialise_classes(JNIEnv* jni, std::initializer_list<const char*> names);
// ClassLoader.getPlatformClassLoader or getSystemClassLoader, as a global reference; null if it cannot be had.
jobject find_loader(JNIEnv* jni, const char* getter);

struct ThreadFacts {
  std::string name;
  bool is_virtual = false;
};
// `virtual_thread` is java.lang.BaseVirtualThread, null before JDK 21.
ThreadFacts facts_of(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass virtual_thread);

// All platform threads.
template <typename Visit>  // void(jthread)
bool for_each_thread(jvmtiEnv* jvmti, JNIEnv* jni, Visit&& visit) {
  jint count = 0;
  jthread* threads = nullptr;
  if (jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return false;
  for (jint i = 0; i < count; ++i) {
    visit(threads[i]);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
  return true;
}

// What JDK 21 added for virtual threads; the headers of older JDKs do not have it.
using ThreadEvent = void(JNICALL*)(jvmtiEnv*, JNIEnv*, jthread);
bool has_virtual_threads(jvmtiEnv* jvmti);
void want_virtual_threads(jvmtiCapabilities& wanted);
// Sets the callbacks, with those for virtual threads, which may be null.
bool set_callbacks(jvmtiEnv* jvmti, const jvmtiEventCallbacks& callbacks, ThreadEvent virtual_start,
                   ThreadEvent virtual_end);
inline constexpr auto kVirtualThreadStart = static_cast<jvmtiEvent>(87);
inline constexpr auto kVirtualThreadEnd = static_cast<jvmtiEvent>(88);

bool switch_event(jvmtiEnv* jvmti, jvmtiEvent event, jvmtiEventMode mode);

}  // namespace sonde::agent
