// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/method_handles.h"

namespace sonde::agent {
namespace {

bool is_a(JNIEnv* jni, jobject object, const char* class_name) {
  const jclass cls = jni->FindClass(class_name);
  return cls != nullptr && jni->IsInstanceOf(object, cls) != JNI_FALSE;
}

// MethodHandles.Lookup.IMPL_LOOKUP.revealDirect(handle).reflectAs(Executable.class, IMPL_LOOKUP); null if it is not one
// method.
jobject executable_of(JNIEnv* jni, jobject handle) {
  const jclass lookup = jni->FindClass("java/lang/invoke/MethodHandles$Lookup");
  const jclass info = jni->FindClass("java/lang/invoke/MethodHandleInfo");
  const jclass executable = jni->FindClass("java/lang/reflect/Executable");
  if (lookup == nullptr || info == nullptr || executable == nullptr) return nullptr;
  const jfieldID all = jni->GetStaticFieldID(lookup, "IMPL_LOOKUP", "Ljava/lang/invoke/MethodHandles$Lookup;");
  const jmethodID reveal =
      jni->GetMethodID(lookup, "revealDirect", "(Ljava/lang/invoke/MethodHandle;)Ljava/lang/invoke/MethodHandleInfo;");
  const jmethodID reflect = jni->GetMethodID(
      info, "reflectAs", "(Ljava/lang/Class;Ljava/lang/invoke/MethodHandles$Lookup;)Ljava/lang/reflect/Member;");
  if (all == nullptr || reveal == nullptr || reflect == nullptr) return nullptr;
  const jobject everything = jni->GetStaticObjectField(lookup, all);
  const jobject revealed = jni->CallObjectMethod(everything, reveal, handle);
  if (jni->ExceptionCheck() != JNI_FALSE || revealed == nullptr) return nullptr;
  const jobject member = jni->CallObjectMethod(revealed, reflect, executable, everything);
  return jni->ExceptionCheck() != JNI_FALSE ? nullptr : member;
}

}  // namespace

jmethodID method_of_handle(JNIEnv* jni, jobject handle) {
  if (jni->PushLocalFrame(16) != JNI_OK) {
    jni->ExceptionClear();
    return nullptr;
  }
  jobject executable = is_a(jni, handle, "java/lang/reflect/Executable") ? handle : nullptr;
  if (executable == nullptr && is_a(jni, handle, "java/lang/invoke/MethodHandle"))
    executable = executable_of(jni, handle);
  const jmethodID method = executable == nullptr ? nullptr : jni->FromReflectedMethod(executable);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return method;
}

}  // namespace sonde::agent
