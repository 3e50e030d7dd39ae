// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/subgraph_runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "agent/jvmti/jvm.h"
#include "agent/jvmti/runtime_classes.h"
#include "agent/session/nowhere.h"
#include "agent/session/subgraph_plan.h"
#include "base/clock.h"
#include "instrument/renamed_class.h"

namespace sonde::agent {
namespace {

constexpr const char* kSeenName = "java/lang/SondeSubgraph$Seen";
constexpr std::uint64_t kThreads = 1 << 20;
constexpr jsize kRemembered = 1 << 16;  // call sites and receivers

// For the life of the process.
arena::SubgraphEntry* g_threads = nullptr;
std::uint8_t* g_sites = nullptr;
std::uint64_t* g_round = nullptr;

// HotSpot prints a warning if natives of a java.* class are registered by code that no class of the JDK called. While a
// class is loaded that Java code defines, one did.
struct Binding {
  jclass runtime;
  std::span<const JNINativeMethod> natives;
  bool done;
};
Binding* g_binding = nullptr;

void JNICALL bind_while_loading(jvmtiEnv*, JNIEnv* jni, jclass, jobject, const char* name, jobject, jint,
                                const unsigned char*, jint*, unsigned char**) {
  if (g_binding == nullptr || name == nullptr || std::strcmp(name, kSeenName) != 0) return;
  g_binding->done = jni->RegisterNatives(g_binding->runtime, g_binding->natives.data(),
                                         static_cast<jint>(g_binding->natives.size())) == JNI_OK;
}

// Through jdk.internal.misc.Unsafe, so that it is Java code that defines it.
bool define_by_java(JNIEnv* jni, const char* name, std::span<const std::uint8_t> bytes) {
  const jclass cls = jni->FindClass("jdk/internal/misc/Unsafe");
  const jmethodID get = jni->GetStaticMethodID(cls, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  const jmethodID define = jni->GetMethodID(cls, "defineClass",
                                            "(Ljava/lang/String;[BIILjava/lang/ClassLoader;"
                                            "Ljava/security/ProtectionDomain;)Ljava/lang/Class;");
  if (get == nullptr || define == nullptr) return false;
  const jobject unsafe = jni->CallStaticObjectMethod(cls, get);
  const auto size = static_cast<jsize>(bytes.size());
  const jbyteArray array = jni->NewByteArray(size);
  if (array == nullptr) return false;
  jni->SetByteArrayRegion(array, 0, size, reinterpret_cast<const jbyte*>(bytes.data()));
  const jobject defined =
      jni->CallObjectMethod(unsafe, define, jni->NewStringUTF(name), array, 0, size, nullptr, nullptr);
  return jni->ExceptionCheck() == JNI_FALSE && defined != nullptr;
}

bool map_tables() {
  if (g_threads != nullptr) return true;
  constexpr std::size_t kThreadBytes = kThreads * sizeof(arena::SubgraphEntry);
  void* memory = mmap(nullptr, kThreadBytes + SubgraphPlan::kMaxSites + sizeof *g_round, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  g_threads = static_cast<arena::SubgraphEntry*>(memory);
  g_sites = static_cast<std::uint8_t*>(memory) + kThreadBytes;
  g_round = reinterpret_cast<std::uint64_t*>(g_sites + SubgraphPlan::kMaxSites);
  return true;
}

Error failed(const char* what) { return {ErrorCode::kUnsupported, std::string("java.lang.SondeSubgraph ") + what}; }

}  // namespace

Result<void> SubgraphRuntime::define(jvmtiEnv* jvmti, JNIEnv* jni, std::uint64_t bias,
                                     std::span<const JNINativeMethod> natives) {
  if (runtime_ != nullptr) return bias == bias_ ? Result<void>() : failed("of this JVM is that of `sonde run`");
  if (!map_tables()) return failed("has no memory for threads");
  thread_number_ = jni->GetFieldID(jni->FindClass("java/lang/Thread"), "tid", "J");
  if (thread_number_ == nullptr) return failed("does not know the numbers of threads");
  bias_ = bias;
  if (auto made = make_class(jvmti, jni, natives); !made.ok()) {
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    runtime_ = nullptr;
    return made;
  }
  current_ = jni->GetStaticMethodID(runtime_, "current", "()J");
  return {};
}

bool SubgraphRuntime::is_inside(JNIEnv* jni) const { return jni->CallStaticLongMethod(runtime_, current_) != 0; }

Result<void> SubgraphRuntime::make_class(jvmtiEnv* jvmti, JNIEnv* jni, std::span<const JNINativeMethod> natives) {
  // BASE, and sums of it and an offset in what an address may point to.
  const instrument::ConstantShift shift{.begin = kBias, .end = kBias + 4096, .by = bias_ - kBias};
  const auto define = [&](const char* name, Bytes bytes) -> Result<jclass> {
    const std::vector<std::uint8_t> shifted = TRY(instrument::rename_classes(bytes, {}, shift));
    const jclass defined = define_class(jni, name, shifted);
    if (defined == nullptr) return failed("could not be defined");
    return defined;
  };
  runtime_ = TRY(define("java/lang/SondeSubgraph", kSondeSubgraphClass));
  TRY(define("java/lang/SondeSubgraphTree", kSondeSubgraphTreeClass));
  TRY(define("java/lang/SondeRootTimes", kSondeRootTimesClass));
  Binding binding{.runtime = runtime_, .natives = natives, .done = false};
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = bind_while_loading;
  g_binding = &binding;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  const bool seen = define_by_java(jni, kSeenName, kSondeSubgraphSeenClass);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  g_binding = nullptr;
  if (!seen || !binding.done ||
      !initialise_classes(jni, {"java/lang/SondeSubgraphTree", "java/lang/SondeRootTimes", kSeenName}))
    return failed("could not be bound to the agent");
  const jclass unsafe = jni->FindClass("jdk/internal/misc/Unsafe");
  const jmethodID get = jni->GetStaticMethodID(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  const jmethodID offset_of = jni->GetMethodID(unsafe, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  if (get == nullptr || offset_of == nullptr) return failed("does not know the layout of threads");
  const jlong offset = jni->CallLongMethod(jni->CallStaticObjectMethod(unsafe, get), offset_of,
                                           jni->FindClass("java/lang/Thread"), jni->NewStringUTF("tid"));
  if (jni->ExceptionCheck() != JNI_FALSE) return failed("does not know the layout of threads");
  set_long(jni, "threadNumber", offset);
  set_long(jni, "threadMask", kThreads - 1);
  set_long(jni, "threads", reinterpret_cast<jlong>(g_threads));
  set_long(jni, "sites", reinterpret_cast<jlong>(g_sites));
  set_long(jni, "round", reinterpret_cast<jlong>(g_round));
  return {};
}

void SubgraphRuntime::set_long(JNIEnv* jni, const char* field, jlong value) {
  const jfieldID id = jni->GetStaticFieldID(runtime_, field, "J");
  if (id != nullptr) jni->SetStaticLongField(runtime_, id, value);
}

void SubgraphRuntime::set_boolean(JNIEnv* jni, const char* field, bool value) {
  jni->SetStaticBooleanField(runtime_, jni->GetStaticFieldID(runtime_, field, "Z"), value ? JNI_TRUE : JNI_FALSE);
}

bool SubgraphRuntime::new_array(JNIEnv* jni, const char* field, const char* type, const char* element, jsize size) {
  const jclass cls = jni->FindClass(element);
  const jfieldID id = jni->GetStaticFieldID(runtime_, field, type);
  if (cls == nullptr || id == nullptr) return false;
  const jobjectArray array = jni->NewObjectArray(size, cls, nullptr);
  if (array == nullptr) return false;
  jni->SetStaticObjectField(runtime_, id, array);
  jni->DeleteLocalRef(array);
  return true;
}

std::uint8_t* SubgraphRuntime::site_bytes() { return g_sites; }

void SubgraphRuntime::begin(JNIEnv* jni) {
  madvise(g_sites, SubgraphPlan::kMaxSites, MADV_DONTNEED);  // all zero
  set_boolean(jni, "bare", true);
}

bool SubgraphRuntime::begin_to_ask(JNIEnv* jni) {
  const bool made = new_array(jni, "last", "[Ljava/lang/Object;", "java/lang/Object", kRemembered) &&
                    new_array(jni, "seen", "[Ljava/lang/SondeSubgraph$Seen;", kSeenName, kRemembered);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  if (made) set_boolean(jni, "bare", false);
  return made;
}

void SubgraphRuntime::end(JNIEnv* jni) {
  if (runtime_ == nullptr) return;
  set_open(jni, false);
  for (std::uint64_t i = 0; i < kThreads; i += 4096 / sizeof(arena::SubgraphEntry)) {
    unsigned char is_resident = 0;
    if (mincore(&g_threads[i], 4096, &is_resident) == 0 && (is_resident & 1) == 0) continue;
    for (std::uint64_t e = i; e < i + 4096 / sizeof(arena::SubgraphEntry); ++e)
      __atomic_store_n(&g_threads[e].node, 0, __ATOMIC_RELEASE);
  }
  new_array(jni, "last", "[Ljava/lang/Object;", "java/lang/Object", 0);
  new_array(jni, "seen", "[Ljava/lang/SondeSubgraph$Seen;", kSeenName, 0);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
}

void SubgraphRuntime::begin_bare_round() { __atomic_fetch_add(g_round, 1, __ATOMIC_RELEASE); }

void SubgraphRuntime::forget_threads() {
  if (g_threads != nullptr) madvise(g_threads, kThreads * sizeof(arena::SubgraphEntry), MADV_DONTNEED);  // all zero
}

std::uint64_t SubgraphRuntime::number_of(JNIEnv* jni, jthread thread) const {
  return static_cast<std::uint64_t>(jni->GetLongField(thread, thread_number_));
}

arena::SubgraphEntry& SubgraphRuntime::entry_of(std::uint64_t thread_number) const {
  return g_threads[thread_number & (kThreads - 1)];
}

SubgraphRuntime::Cost SubgraphRuntime::calibrate(JNIEnv* jni, bool cpu) {
  constexpr std::size_t kBatches = 250;
  constexpr jint kCalls = 2000;
  constexpr jint kMethod = 1;
  const jmethodID method = jni->GetStaticMethodID(runtime_, "calibrate", "(IIZ)V");
  const jclass threads = jni->FindClass("java/lang/Thread");
  const jmethodID current = jni->GetStaticMethodID(threads, "currentThread", "()Ljava/lang/Thread;");
  const jobject thread = jni->CallStaticObjectMethod(threads, current);
  if (method == nullptr || thread == nullptr) return {};
  // A tree that nobody reads, with a caller and the one callee.
  alignas(64) static std::uint64_t memory[512];
  const std::uint64_t tree = reinterpret_cast<std::uint64_t>(memory) - bias_;
  auto* header = reinterpret_cast<arena::SubgraphTree*>(memory);
  auto* caller = reinterpret_cast<arena::SubgraphNode*>(memory + 16);
  auto* slots = memory + 32;
  *header = {.next = tree + 512,
             .end = tree + sizeof memory,
             .root = 0,
             .nodes = 0,
             .own_ns = 0,
             .lost = 0,
             .threads = 0,
             .nobody = 0};
  *caller = {};
  caller->method_id = kMethod + 1;
  caller->slots = tree + 256;
  slots[0] = tree + offsetof(arena::SubgraphTree, nobody);
  const std::uint64_t number = number_of(jni, thread);
  arena::SubgraphEntry& entry = entry_of(number);
  entry = {.node = tree + 128, .thread = number, .tree = tree, .own_ns = 0};
  std::vector<std::uint64_t> inner;
  std::vector<std::uint64_t> whole;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::uint64_t begin = monotonic_ns();
    jni->CallStaticVoidMethod(runtime_, method, kMethod, kCalls, static_cast<jboolean>(cpu));
    const std::uint64_t end = monotonic_ns();
    const std::uint64_t measured =
        static_cast<arena::SubgraphNode*>(reinterpret_cast<void*>(slots[0] + bias_))->time_ns;
    inner.push_back((measured - before) * 1000 / kCalls);
    whole.push_back((end - begin) * 1000 / kCalls);
    before = measured;
  }
  entry = {};
  // Compiled code is the rule: the first half of the batches may have been interpreted.
  const auto half = static_cast<std::ptrdiff_t>(kBatches / 2);
  const auto spread = [&](std::vector<std::uint64_t>& values) {
    std::sort(values.begin() + half, values.end());
    const std::uint64_t least = values[kBatches / 2];
    return std::pair(least, values[kBatches / 2 + kBatches / 4] - least);
  };
  const auto [inner_ps, inner_error] = spread(inner);
  const auto [whole_ps, whole_error] = spread(whole);
  return {.inner_ps = inner_ps,
          .outer_ps = whole_ps > inner_ps ? whole_ps - inner_ps : 0,
          .inner_error_ps = inner_error,
          .outer_error_ps = whole_error};
}

}  // namespace sonde::agent
