// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/agct_classes.h"

#include <string_view>

namespace sonde::agent {

AgctClasses::AgctClasses(jvmtiEnv* jvmti, JNIEnv* jni) : jvmti_(jvmti) {
  const jclass cls = jni->FindClass("java/lang/ClassLoader");
  const char* names[] = {"getPlatformClassLoader", "getSystemClassLoader"};
  for (int i = 0; i < 2; ++i) {
    const jmethodID get = jni->GetStaticMethodID(cls, names[i], "()Ljava/lang/ClassLoader;");
    const jobject loader = get == nullptr ? nullptr : jni->CallStaticObjectMethod(cls, get);
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    if (loader != nullptr) loaders_[i] = jni->NewGlobalRef(loader);
    jni->DeleteLocalRef(loader);
  }
  jni->DeleteLocalRef(cls);
}

// Hidden classes may go although their loader stays: "Lapp/Main$$Lambda.0x7f;" has a dot.
bool AgctClasses::may_be_unloaded(JNIEnv* jni, jclass cls) const {
  jobject loader = nullptr;
  if (jvmti_->GetClassLoader(cls, &loader) != JVMTI_ERROR_NONE) return true;
  const bool is_permanent = loader == nullptr || jni->IsSameObject(loader, loaders_[0]) != JNI_FALSE ||
                            jni->IsSameObject(loader, loaders_[1]) != JNI_FALSE;
  jni->DeleteLocalRef(loader);
  if (!is_permanent) return true;
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return true;
  const bool is_hidden = std::string_view(signature).find('.') != std::string_view::npos;
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return is_hidden;
}

void AgctClasses::prepare_loaded(AgctDecoder& decoder, JNIEnv* jni) const {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    prepare(decoder, jni, classes[i]);
    jni->DeleteLocalRef(classes[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

}  // namespace sonde::agent
