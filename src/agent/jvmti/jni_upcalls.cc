// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/jni_upcalls.h"

#include <atomic>
#include <cstdarg>

namespace sonde::agent {
namespace {

jniNativeInterface* g_original = nullptr;  // the JVM's own functions; never given back, for calls may be under way
std::atomic<UpcallMet> g_met{nullptr};

thread_local bool t_is_telling = false;  // whoever is told calls methods, too

void met(JNIEnv* jni, jobject receiver, jmethodID method) {
  const UpcallMet tell = g_met.load(std::memory_order_acquire);
  if (tell == nullptr || t_is_telling) return;
  t_is_telling = true;
  tell(jni, receiver, method);
  t_is_telling = false;
}

// The nine functions of JNI for one type of result: virtual, non-virtual and static, each with three kinds of
// arguments.
#define UPCALLS(Type, type, Result)                                                                                  \
  Result JNICALL call_##type##_method(JNIEnv* jni, jobject object, jmethodID method, ...) {                          \
    met(jni, object, method);                                                                                        \
    std::va_list arguments;                                                                                          \
    va_start(arguments, method);                                                                                     \
    const ArgumentsEnd end{arguments};                                                                               \
    return g_original->Call##Type##MethodV(jni, object, method, arguments);                                          \
  }                                                                                                                  \
  Result JNICALL call_##type##_method_v(JNIEnv* jni, jobject object, jmethodID method, std::va_list arguments) {     \
    met(jni, object, method);                                                                                        \
    return g_original->Call##Type##MethodV(jni, object, method, arguments);                                          \
  }                                                                                                                  \
  Result JNICALL call_##type##_method_a(JNIEnv* jni, jobject object, jmethodID method, const jvalue* arguments) {    \
    met(jni, object, method);                                                                                        \
    return g_original->Call##Type##MethodA(jni, object, method, arguments);                                          \
  }                                                                                                                  \
  Result JNICALL call_nonvirtual_##type##_method(JNIEnv* jni, jobject object, jclass cls, jmethodID method, ...) {   \
    met(jni, nullptr, method);                                                                                       \
    std::va_list arguments;                                                                                          \
    va_start(arguments, method);                                                                                     \
    const ArgumentsEnd end{arguments};                                                                               \
    return g_original->CallNonvirtual##Type##MethodV(jni, object, cls, method, arguments);                           \
  }                                                                                                                  \
  Result JNICALL call_nonvirtual_##type##_method_v(JNIEnv* jni, jobject object, jclass cls, jmethodID method,        \
                                                   std::va_list arguments) {                                         \
    met(jni, nullptr, method);                                                                                       \
    return g_original->CallNonvirtual##Type##MethodV(jni, object, cls, method, arguments);                           \
  }                                                                                                                  \
  Result JNICALL call_nonvirtual_##type##_method_a(JNIEnv* jni, jobject object, jclass cls, jmethodID method,        \
                                                   const jvalue* arguments) {                                        \
    met(jni, nullptr, method);                                                                                       \
    return g_original->CallNonvirtual##Type##MethodA(jni, object, cls, method, arguments);                           \
  }                                                                                                                  \
  Result JNICALL call_static_##type##_method(JNIEnv* jni, jclass cls, jmethodID method, ...) {                       \
    met(jni, nullptr, method);                                                                                       \
    std::va_list arguments;                                                                                          \
    va_start(arguments, method);                                                                                     \
    const ArgumentsEnd end{arguments};                                                                               \
    return g_original->CallStatic##Type##MethodV(jni, cls, method, arguments);                                       \
  }                                                                                                                  \
  Result JNICALL call_static_##type##_method_v(JNIEnv* jni, jclass cls, jmethodID method, std::va_list arguments) {  \
    met(jni, nullptr, method);                                                                                       \
    return g_original->CallStatic##Type##MethodV(jni, cls, method, arguments);                                       \
  }                                                                                                                  \
  Result JNICALL call_static_##type##_method_a(JNIEnv* jni, jclass cls, jmethodID method, const jvalue* arguments) { \
    met(jni, nullptr, method);                                                                                       \
    return g_original->CallStatic##Type##MethodA(jni, cls, method, arguments);                                       \
  }

// va_end when the call is over.
struct ArgumentsEnd {
  std::va_list& arguments;
  ~ArgumentsEnd() { va_end(arguments); }
};

#define ALL_TYPES(EACH)            \
  EACH(Object, object, jobject)    \
  EACH(Boolean, boolean, jboolean) \
  EACH(Byte, byte, jbyte)          \
  EACH(Char, char, jchar)          \
  EACH(Short, short, jshort)       \
  EACH(Int, int, jint)             \
  EACH(Long, long, jlong) EACH(Float, float, jfloat) EACH(Double, double, jdouble) EACH(Void, void, void)
ALL_TYPES(UPCALLS)

jobject JNICALL new_object(JNIEnv* jni, jclass cls, jmethodID method, ...) {
  met(jni, nullptr, method);
  std::va_list arguments;
  va_start(arguments, method);
  const ArgumentsEnd end{arguments};
  return g_original->NewObjectV(jni, cls, method, arguments);
}
jobject JNICALL new_object_v(JNIEnv* jni, jclass cls, jmethodID method, std::va_list arguments) {
  met(jni, nullptr, method);
  return g_original->NewObjectV(jni, cls, method, arguments);
}
jobject JNICALL new_object_a(JNIEnv* jni, jclass cls, jmethodID method, const jvalue* arguments) {
  met(jni, nullptr, method);
  return g_original->NewObjectA(jni, cls, method, arguments);
}

}  // namespace

void watch_upcalls(jvmtiEnv* jvmti, UpcallMet to_tell) {
  jniNativeInterface* table = nullptr;
  if (g_original == nullptr && jvmti->GetJNIFunctionTable(&g_original) != JVMTI_ERROR_NONE) return;
  if (jvmti->GetJNIFunctionTable(&table) != JVMTI_ERROR_NONE) return;
#define REPLACE(Type, type, Result)                                         \
  table->Call##Type##Method = call_##type##_method;                         \
  table->Call##Type##MethodV = call_##type##_method_v;                      \
  table->Call##Type##MethodA = call_##type##_method_a;                      \
  table->CallNonvirtual##Type##Method = call_nonvirtual_##type##_method;    \
  table->CallNonvirtual##Type##MethodV = call_nonvirtual_##type##_method_v; \
  table->CallNonvirtual##Type##MethodA = call_nonvirtual_##type##_method_a; \
  table->CallStatic##Type##Method = call_static_##type##_method;            \
  table->CallStatic##Type##MethodV = call_static_##type##_method_v;         \
  table->CallStatic##Type##MethodA = call_static_##type##_method_a;
  ALL_TYPES(REPLACE)
  table->NewObject = new_object;
  table->NewObjectV = new_object_v;
  table->NewObjectA = new_object_a;
  g_met.store(to_tell, std::memory_order_release);
  jvmti->SetJNIFunctionTable(table);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(table));
}

void unwatch_upcalls(jvmtiEnv* jvmti) {
  g_met.store(nullptr, std::memory_order_release);
  if (g_original != nullptr) jvmti->SetJNIFunctionTable(g_original);
}

}  // namespace sonde::agent
