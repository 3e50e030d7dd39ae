// SPDX-License-Identifier: Apache-2.0
// Where the JVM enters the agent. If anything is missing, the agent says so once on stderr and lets the program run as
// if it were not there.
#include <jni.h>

#include "agent/jvmti/jvm.h"
#include "agent/jvmti/launch.h"
#include "agent/jvmti/session.h"

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  // Without a recording it is dormant: it does nothing until a host attaches.
  if (options == nullptr || *options == 0) {
    sonde::agent::prepare_session(vm);
    return JNI_OK;
  }
  if (const auto started = sonde::agent::launch(vm, options); !started.ok()) {
    sonde::agent::say(started.error().to_string() + "; the program runs without being recorded");
  }
  return JNI_OK;
}

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char*, void*) {
  const auto begun = sonde::agent::begin_session(vm);
  if (begun.ok()) return JNI_OK;
  sonde::agent::say(begun.error().to_string() + "; nobody can attach");
  return JNI_ERR;
}
