// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/attached_runtime.h"

#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/jvmti/jvm.h"
#include "agent/jvmti/runtime_classes.h"
#include "agent/session/nowhere.h"
#include "instrument/renamed_class.h"

namespace sonde::agent {
namespace {

constexpr const char* kLastClass = "java/lang/SondeRT$Memory";
constexpr jsize kPlaces = 1 << 12;  // SondeThread.PLACES
jsize place_of(jlong number) { return static_cast<jsize>(number & (kPlaces - 1)); }

// The gate opens and shuts, so compiled code must look at it each time: nothing is @Stable here.
constexpr instrument::ClassRenaming kRenamings[] = {
    {"java/lang/Thread", "java/lang/SondeThread"},
    {"jdk/internal/vm/annotation/Stable", "java/lang/Deprecated"},
};
// It names both.
constexpr instrument::ClassRenaming kRenamingsOfThread[] = {kRenamings[1]};

AttachedRuntime* g_runtime = nullptr;
std::shared_mutex g_counting_mutex;  // held shared while a native works; guards what follows
CountingThreads* g_counting = nullptr;

jobject JNICALL enlist(JNIEnv* jni, jclass, jlong tid) { return g_runtime->enlist(jni, tid); }

jlong JNICALL new_tree(JNIEnv* jni, jclass, jobject own) {
  const std::shared_lock lock(g_counting_mutex);
  if (g_counting == nullptr || g_runtime->is_nobody(jni, own)) return 0;
  return static_cast<jlong>(g_counting->new_tree(jni));
}

jboolean JNICALL grow(JNIEnv*, jclass, jlong tree, jint size) {
  const std::shared_lock lock(g_counting_mutex);
  const bool grown =
      g_counting != nullptr && g_counting->grow(static_cast<std::uint64_t>(tree), static_cast<std::uint32_t>(size));
  return grown ? JNI_TRUE : JNI_FALSE;
}

jlong JNICALL find_callers(JNIEnv* jni, jclass, jlong region) {
  const std::shared_lock lock(g_counting_mutex);
  return g_counting == nullptr ? 0 : g_counting->find_callers(jni, region);
}

// HotSpot prints a warning if natives of a java.* class are registered by somebody else, which it tells by the Java
// frame that calls. So they are registered while Java code of the JDK defines the last of our classes.
struct Binding {
  AttachedRuntime* runtime;
  bool is_done = false;
  bool is_bound = false;
};
Binding* g_binding = nullptr;

void bind_now(JNIEnv* jni) {
  if (g_binding == nullptr || g_binding->is_done) return;
  g_binding->is_done = true;
  g_binding->is_bound = g_binding->runtime->bind(jni);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
}

void JNICALL on_own_class(jvmtiEnv*, JNIEnv* jni, jclass, jobject, const char* name, jobject, jint,
                          const unsigned char*, jint*, unsigned char**) {
  if (name != nullptr && std::string_view(name) == kLastClass) bind_now(jni);
}

void define_by_jdk(JNIEnv* jni, const char* name, Bytes bytes) {
  const jclass unsafes = jni->FindClass("jdk/internal/misc/Unsafe");
  const jmethodID get = jni->GetStaticMethodID(unsafes, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  const jmethodID define = jni->GetMethodID(
      unsafes, "defineClass",
      "(Ljava/lang/String;[BIILjava/lang/ClassLoader;Ljava/security/ProtectionDomain;)Ljava/lang/Class;");
  const auto size = static_cast<jsize>(bytes.size());
  const jbyteArray array = define == nullptr ? nullptr : jni->NewByteArray(size);
  if (array != nullptr) {
    jni->SetByteArrayRegion(array, 0, size, reinterpret_cast<const jbyte*>(bytes.data()));
    const jobject unsafe = jni->CallStaticObjectMethod(unsafes, get);
    jni->CallObjectMethod(unsafe, define, jni->NewStringUTF(name), array, 0, size, nullptr, nullptr);
  }
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
}

// Defines the last class and binds the natives of all.
bool define_and_bind(JNIEnv* jni, AttachedRuntime* runtime) {
  JavaVM* vm = nullptr;
  if (jni->GetJavaVM(&vm) != JNI_OK) return false;
  jvmtiEnv* jvmti = new_environment(vm);
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = on_own_class;
  Binding binding{.runtime = runtime};
  g_binding = &binding;
  if (set_callbacks(jvmti, callbacks, nullptr, nullptr)) {
    switch_event(jvmti, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_ENABLE);
    define_by_jdk(jni, kLastClass, kSondeRTMemoryClass);
  }
  jvmti->DisposeEnvironment();
  bind_now(jni);  // with the warning, if it could not be avoided
  g_binding = nullptr;
  return binding.is_bound && find_class(jni, kLastClass) != nullptr;
}

// Defined now, or by an agent that was here before (another copy of the library). Looking first would ask the program's
// class loaders.
jclass define_or_find(JNIEnv* jni, const char* name, Bytes bytes, std::span<const instrument::ClassRenaming> renamings,
                      const instrument::ConstantShift& shift) {
  const auto renamed = instrument::rename_classes(bytes, renamings, shift);
  const jclass defined = renamed.ok() ? define_class(jni, name, *renamed) : nullptr;
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  return defined != nullptr ? defined : find_class(jni, name);
}

JNINativeMethod native(const char* name, const char* descriptor, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(descriptor), function};
}

}  // namespace

Result<AttachedRuntime*> AttachedRuntime::get(JNIEnv* jni, std::uint64_t bias) {
  if (g_runtime != nullptr) return g_runtime;
  auto* runtime = new AttachedRuntime;
  g_runtime = runtime;
  if (auto defined = runtime->define(jni, bias); !defined.ok()) {
    g_runtime = nullptr;
    delete runtime;
    return std::move(defined).error();
  }
  return runtime;
}

Result<void> AttachedRuntime::define(JNIEnv* jni, std::uint64_t bias) {
  // BASE, and sums of it and an offset in a node.
  const instrument::ConstantShift shift{.begin = kBias, .end = kBias + 4096, .by = bias - kBias};
  counting = define_or_find(jni, "java/lang/SondeRT", kSondeRTClass, kRenamings, shift);
  call_tree = define_or_find(jni, "java/lang/SondeTree", kSondeTreeClass, kRenamings, shift);
  flat = define_or_find(jni, "java/lang/SondeFlat", kSondeFlatClass, kRenamings, shift);
  sampling = define_or_find(jni, "java/lang/SondeSampling", kSondeSamplingClass, kRenamings, shift);
  const jclass steps = define_or_find(jni, "java/lang/SondeSteps", kSondeStepsClass, kRenamings, shift);
  thread = define_or_find(jni, "java/lang/SondeThread", kSondeThreadClass, kRenamingsOfThread, shift);
  if (counting == nullptr || call_tree == nullptr || flat == nullptr || sampling == nullptr || steps == nullptr ||
      thread == nullptr) {
    return Error{ErrorCode::kUnsupported, "java.lang.SondeRT cannot be defined in this JVM"};
  }
  if (!find_fields(jni) || !define_and_bind(jni, this) ||
      !initialise_classes(jni, {kLastClass, "java/lang/SondeTree", "java/lang/SondeFlat", "java/lang/SondeSteps"})) {
    jni->ExceptionClear();
    return Error{ErrorCode::kUnsupported,
                 "java.lang.SondeRT of this JVM is another one: it was started by `sonde run`"};
  }
  nobody_ = jni->NewGlobalRef(jni->AllocObject(thread));
  table_ = static_cast<jobjectArray>(jni->NewGlobalRef(jni->NewObjectArray(kPlaces, thread, nullptr)));
  if (nobody_ == nullptr || table_ == nullptr) return Error{ErrorCode::kIo, "the Java heap is full"};
  jni->SetStaticObjectField(thread, jni->GetStaticFieldID(thread, "table", "[Ljava/lang/SondeThread;"), table_);
  return {};
}

bool AttachedRuntime::find_fields(JNIEnv* jni) {
  const auto field = [&](jclass cls, const char* name, const char* descriptor) {
    return jni->ExceptionCheck() != JNI_FALSE ? nullptr : jni->GetFieldID(cls, name, descriptor);
  };
  site = field(thread, "$sondeSite", "J");
  tree = field(thread, "$sondeTree", "J");
  root = field(thread, "$sondeRoot", "J");
  path = field(thread, "$sondePath", "J");
  tid_ = field(thread, "tid", "J");
  next_ = field(thread, "next", "Ljava/lang/SondeThread;");
  const jclass threads = jni->FindClass("java/lang/Thread");
  thread_number_ = field(threads, "tid", "J");
  if (thread_number_ == nullptr) return false;
  const jclass unsafes = jni->FindClass("jdk/internal/misc/Unsafe");
  const jmethodID get = jni->GetStaticMethodID(unsafes, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  const jmethodID offset_of = jni->GetMethodID(unsafes, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  if (get == nullptr || offset_of == nullptr) return false;
  const jobject unsafe = jni->CallStaticObjectMethod(unsafes, get);
  const jlong offset = jni->CallLongMethod(unsafe, offset_of, threads, jni->NewStringUTF("tid"));
  if (jni->ExceptionCheck() != JNI_FALSE || offset <= 0) return false;
  set_long(jni, thread, "tidOffset", static_cast<std::uint64_t>(offset));
  return true;
}

bool AttachedRuntime::bind(JNIEnv* jni) {
  const JNINativeMethod of_thread[] = {
      native("enlist", "(J)Ljava/lang/SondeThread;", reinterpret_cast<void*>(agent::enlist))};
  const JNINativeMethod of_call_tree[] = {
      native("newTree", "(Ljava/lang/SondeThread;)J", reinterpret_cast<void*>(agent::new_tree)),
      native("grow", "(JI)Z", reinterpret_cast<void*>(agent::grow))};
  const JNINativeMethod of_sampling[] = {native("findCallers", "(J)J", reinterpret_cast<void*>(agent::find_callers))};
  return jni->RegisterNatives(thread, of_thread, 1) == JNI_OK &&
         jni->RegisterNatives(call_tree, of_call_tree, 2) == JNI_OK &&
         jni->RegisterNatives(sampling, of_sampling, 1) == JNI_OK;
}

void AttachedRuntime::set_counting(JNIEnv*, CountingThreads* who) {
  const std::unique_lock lock(g_counting_mutex);
  g_counting = who;
}

void AttachedRuntime::set_long(JNIEnv* jni, jclass cls, const char* field, std::uint64_t value) {
  jni->SetStaticLongField(cls, jni->GetStaticFieldID(cls, field, "J"), static_cast<jlong>(value));
}

void AttachedRuntime::set_bool(JNIEnv* jni, jclass cls, const char* field, bool value) {
  jni->SetStaticBooleanField(cls, jni->GetStaticFieldID(cls, field, "Z"), value ? JNI_TRUE : JNI_FALSE);
}

// --- threads ---------------------------------------------------------------------------------------------------------

jlong AttachedRuntime::number_of(JNIEnv* jni, jthread of) const { return jni->GetLongField(of, thread_number_); }

// Nothing here runs Java code: it would be counted, and come here again.
jobject AttachedRuntime::enlist(JNIEnv* jni, jlong number) {
  const std::shared_lock lock(g_counting_mutex);
  const jobject own = g_counting == nullptr ? nullptr : jni->AllocObject(thread);
  if (own == nullptr) {
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    return jni->NewLocalRef(nobody_);
  }
  jni->SetLongField(own, tid_, number);
  g_counting->thread_enlisted(jni, own, number);
  const std::lock_guard table_lock(table_mutex_);
  const jobject first = jni->GetObjectArrayElement(table_, place_of(number));
  jni->SetObjectField(own, next_, first);
  jni->SetObjectArrayElement(table_, place_of(number), own);
  if (first != nullptr) jni->DeleteLocalRef(first);
  return own;
}

jobject AttachedRuntime::find(JNIEnv* jni, jlong number) {
  const std::lock_guard lock(table_mutex_);
  jobject own = jni->GetObjectArrayElement(table_, place_of(number));
  while (own != nullptr && jni->GetLongField(own, tid_) != number) {
    const jobject next = jni->GetObjectField(own, next_);
    jni->DeleteLocalRef(own);
    own = next;
  }
  return own;
}

void AttachedRuntime::remove(JNIEnv* jni, jlong number) {
  const std::lock_guard lock(table_mutex_);
  jobject before = nullptr;
  jobject own = jni->GetObjectArrayElement(table_, place_of(number));
  while (own != nullptr && jni->GetLongField(own, tid_) != number) {
    if (before != nullptr) jni->DeleteLocalRef(before);
    before = std::exchange(own, jni->GetObjectField(own, next_));
  }
  if (own == nullptr) return;
  const jobject next = jni->GetObjectField(own, next_);
  if (before == nullptr) {
    jni->SetObjectArrayElement(table_, place_of(number), next);
  } else {
    jni->SetObjectField(before, next_, next);
  }
}

void AttachedRuntime::clear_threads(JNIEnv* jni) {
  const std::lock_guard lock(table_mutex_);
  for (jsize i = 0; i < kPlaces; ++i) jni->SetObjectArrayElement(table_, i, nullptr);
}

}  // namespace sonde::agent
