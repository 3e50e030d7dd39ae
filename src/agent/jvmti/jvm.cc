// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/jvm.h"

#include <cstdio>

namespace sonde::agent {
namespace {

constexpr unsigned kSupportVirtualThreadsBit = 44;
constexpr jint kVersion21 = 0x30150000;

struct CallbacksOf21 {
  jvmtiEventCallbacks known;
  void* virtual_thread_start;
  void* virtual_thread_end;
};
constexpr std::size_t slot_of(jvmtiEvent event) { return static_cast<std::size_t>(event - JVMTI_MIN_EVENT_TYPE_VAL); }

}  // namespace

void say(const std::string& message) { std::fprintf(stderr, "sonde: %s\n", message.c_str()); }

jvmtiEnv* new_environment(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  return vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) == JNI_OK ? jvmti : nullptr;
}

std::string system_property(jvmtiEnv* jvmti, const char* name) {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE) return "";
  std::string text(value);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
  return text;
}

jclass find_class(JNIEnv* jni, const char* name) {
  const jclass local = jni->FindClass(name);
  if (local == nullptr) {
    jni->ExceptionClear();
    return nullptr;
  }
  const auto global = static_cast<jclass>(jni->NewGlobalRef(local));
  jni->DeleteLocalRef(local);
  return global;
}

bool initialise_classes(JNIEnv* jni, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const jclass initialised = jni->FindClass(name);
    if (initialised == nullptr) {
      jni->ExceptionClear();
      return false;
    }
    jni->DeleteLocalRef(initialised);
  }
  return true;
}

jclass define_class(JNIEnv* jni, const char* name, Bytes bytes) {
  const jclass defined =
      jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data()), static_cast<jsize>(bytes.size()));
  return defined == nullptr ? nullptr : static_cast<jclass>(jni->NewGlobalRef(defined));
}

jobject find_loader(JNIEnv* jni, const char* getter) {
  const jclass loaders = jni->FindClass("java/lang/ClassLoader");
  const jmethodID get = jni->GetStaticMethodID(loaders, getter, "()Ljava/lang/ClassLoader;");
  const jobject loader = get == nullptr ? nullptr : jni->CallStaticObjectMethod(loaders, get);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  return loader == nullptr ? nullptr : jni->NewGlobalRef(loader);
}

ThreadFacts facts_of(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jclass virtual_thread) {
  jvmtiThreadInfo info{};
  std::string name;
  if (jvmti->GetThreadInfo(thread, &info) == JVMTI_ERROR_NONE) {
    if (info.name != nullptr) name = info.name;
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
    jni->DeleteLocalRef(info.thread_group);
    jni->DeleteLocalRef(info.context_class_loader);
  }
  const bool is_virtual = virtual_thread != nullptr && jni->IsInstanceOf(thread, virtual_thread) != JNI_FALSE;
  return {.name = std::move(name), .is_virtual = is_virtual};
}

bool has_virtual_threads(jvmtiEnv* jvmti) {
  jint version = 0;
  jvmti->GetVersionNumber(&version);
  return (version & 0x7fffffff) >= kVersion21;
}

void want_virtual_threads(jvmtiCapabilities& wanted) {
  reinterpret_cast<unsigned char*>(&wanted)[kSupportVirtualThreadsBit / 8] |= 1U << (kSupportVirtualThreadsBit % 8);
}

bool set_callbacks(jvmtiEnv* jvmti, const jvmtiEventCallbacks& callbacks, ThreadEvent virtual_start,
                   ThreadEvent virtual_end) {
  static_assert(sizeof(CallbacksOf21) >= (slot_of(kVirtualThreadEnd) + 1) * sizeof(void*));
  CallbacksOf21 all{.known = callbacks, .virtual_thread_start = nullptr, .virtual_thread_end = nullptr};
  if (has_virtual_threads(jvmti)) {
    auto* slots = reinterpret_cast<void**>(&all);
    slots[slot_of(kVirtualThreadStart)] = reinterpret_cast<void*>(virtual_start);
    slots[slot_of(kVirtualThreadEnd)] = reinterpret_cast<void*>(virtual_end);
  }
  return jvmti->SetEventCallbacks(&all.known, sizeof all) == JVMTI_ERROR_NONE;
}

bool switch_event(jvmtiEnv* jvmti, jvmtiEvent event, jvmtiEventMode mode) {
  return jvmti->SetEventNotificationMode(mode, event, nullptr) == JVMTI_ERROR_NONE;
}

}  // namespace sonde::agent
