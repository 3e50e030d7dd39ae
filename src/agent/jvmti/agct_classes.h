// SPDX-License-Identifier: Apache-2.0
// What AsyncGetCallTrace needs to know of classes: their method ids, and which of them have to be named at once because
// they may be unloaded. Context: [agent], on threads the JVM knows.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "agent/jvmti/agct_decoder.h"

namespace sonde::agent {

class AgctClasses {
 public:
  AgctClasses(jvmtiEnv* jvmti, JNIEnv* jni);

  void prepare(AgctDecoder& decoder, JNIEnv* jni, jclass cls) const { decoder.prepare(cls, may_be_unloaded(jni, cls)); }
  void prepare_loaded(AgctDecoder& decoder, JNIEnv* jni) const;

 private:
  [[nodiscard]] bool may_be_unloaded(JNIEnv* jni, jclass cls) const;

  jvmtiEnv* jvmti_;
  jobject loaders_[2] = {};  // those that are never unloaded: platform and system; global references, for good
};

}  // namespace sonde::agent
