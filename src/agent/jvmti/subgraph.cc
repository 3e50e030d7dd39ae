// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/subgraph.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "agent/jvmti/jni_upcalls.h"
#include "agent/jvmti/jvm.h"
#include "agent/jvmti/method_handles.h"
#include "agent/jvmti/subgraph_reveal.h"
#include "agent/jvmti/subgraph_runtime.h"
#include "agent/session/subgraph_trees.h"
#include "agent/session/untouched_classes.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 100;         // classes: one change of all of them stops the program for a few ms
constexpr auto kLongestWait = 1s;           // of a thread for its callee
constexpr std::uint64_t kMostGivenUp = 10;  // batches: then nobody waits any more

// A recording. Made at its begin and never destroyed: threads may still be in our callbacks.
struct Subgraph {
  Subgraph(JavaVM* java_vm, jvmtiEnv* env, arena::Writer& writer, const Options& opts)
      : vm(java_vm),
        jvmti(env),
        arena(writer),
        options(opts),
        trees(writer),
        plan(writer, opts.subgraph),
        reveal(env, plan, opts) {}

  JavaVM* vm;
  jvmtiEnv* jvmti;
  arena::Writer& arena;
  const Options& options;
  SubgraphRuntime runtime;
  SubgraphTrees trees;
  jclass virtual_thread = nullptr;  // global reference; null before JDK 21

  std::mutex mutex;  // guards what follows
  std::condition_variable has_work;
  std::condition_variable has_done;
  SubgraphPlan plan;
  SubgraphReveal reveal;
  std::uint64_t collecting = 1;  // the number of the batch that changes go to
  std::uint64_t done = 0;
  std::uint64_t given_up = 0;       // batches that threads did not wait for to the end
  std::uint64_t last_given_up = 0;  // the number of the latest of these
  bool is_ending = false;
  bool has_ended = false;  // the thread that changes classes
  std::vector<std::uint64_t> pauses;
};
Subgraph* g_subgraph = nullptr;

// --- what SondeSubgraph asks for, on threads of the program ---

jboolean JNICALL lease(JNIEnv* jni, jclass, jobject thread, jlong number) {
  Subgraph& s = *g_subgraph;
  const ThreadFacts facts = facts_of(s.jvmti, jni, thread, s.virtual_thread);
  const std::lock_guard lock(s.mutex);
  arena::SubgraphEntry& entry = s.runtime.entry_of(static_cast<std::uint64_t>(number));
  if (s.is_ending || entry.tree != 0) {
    if (!s.is_ending) s.arena.count(Counter::kSubgraphThreadsRefused);
    return JNI_FALSE;
  }
  const std::uint64_t tree = s.trees.lease(facts.name, facts.is_virtual);
  if (tree == 0) return JNI_FALSE;
  entry.node = 0;
  entry.thread = static_cast<std::uint64_t>(number);
  entry.tree = tree;
  return JNI_TRUE;
}

jboolean JNICALL grow(JNIEnv*, jclass, jlong tree, jint size) {
  const bool grown = g_subgraph->trees.grow(static_cast<std::uint64_t>(tree), static_cast<std::uint32_t>(size));
  return grown ? JNI_TRUE : JNI_FALSE;
}

// After something was revealed, now or by another thread: the thread that changes classes sets to work, and we wait for
// it if we may.
void hand_over(std::unique_lock<std::mutex>& lock) {
  Subgraph& s = *g_subgraph;
  if (s.reveal.has_changed()) s.has_work.notify_one();
  const SubgraphReveal::Urgency urgency = s.reveal.urgency();
  if (urgency == SubgraphReveal::Urgency::kNone || s.is_ending) return;
  if (!s.options.subgraph.wait || s.given_up >= kMostGivenUp) return;
  const std::uint64_t batch = urgency == SubgraphReveal::Urgency::kNext ? s.collecting : s.collecting - 1;
  const std::uint64_t begin = monotonic_ns();
  if (!s.has_done.wait_for(lock, kLongestWait, [&] { return s.done >= batch || s.is_ending; })) {
    if (batch > s.last_given_up) ++s.given_up;
    s.last_given_up = std::max(s.last_given_up, batch);
    s.arena.count(Counter::kSubgraphWaitsGivenUp);
  }
  s.arena.header().subgraph.waited_ns += monotonic_ns() - begin;
}

void JNICALL request(JNIEnv* jni, jclass, jint site, jclass receiver) {
  Subgraph& s = *g_subgraph;
  std::unique_lock lock(s.mutex);
  if (s.is_ending || static_cast<std::size_t>(site) >= s.plan.site_count()) return;
  s.reveal.meet(jni, static_cast<std::uint32_t>(site), receiver);
  hand_over(lock);
  s.plan.settle(static_cast<std::uint32_t>(site));
}

void JNICALL request_reflected(JNIEnv* jni, jclass, jobject handle) {
  const jmethodID method = method_of_handle(jni, handle);
  Subgraph& s = *g_subgraph;
  std::unique_lock lock(s.mutex);
  if (method == nullptr || s.is_ending) return;
  s.reveal.meet(jni, method, nullptr);
  hand_over(lock);
}

// Native code calls a method.
void on_upcall(JNIEnv* jni, jobject receiver, jmethodID method) {
  Subgraph& s = *g_subgraph;
  if (jni->ExceptionCheck() != JNI_FALSE || !s.runtime.is_inside(jni)) return;
  const jclass cls = receiver == nullptr ? nullptr : jni->GetObjectClass(receiver);
  std::unique_lock lock(s.mutex);
  if (!s.is_ending) {
    s.reveal.meet(jni, method, cls);
    hand_over(lock);
  }
  if (cls != nullptr) jni->DeleteLocalRef(cls);
}

jlong JNICALL cpu_time(JNIEnv*, jclass) { return static_cast<jlong>(thread_cpu_ns()); }

const JNINativeMethod kNatives[] = {
    {const_cast<char*>("lease"), const_cast<char*>("(Ljava/lang/Thread;J)Z"), reinterpret_cast<void*>(lease)},
    {const_cast<char*>("grow"), const_cast<char*>("(JI)Z"), reinterpret_cast<void*>(grow)},
    {const_cast<char*>("request"), const_cast<char*>("(ILjava/lang/Class;)V"), reinterpret_cast<void*>(request)},
    {const_cast<char*>("requestReflected"), const_cast<char*>("(Ljava/lang/Object;)V"),
     reinterpret_cast<void*>(request_reflected)},
    {const_cast<char*>("cpuTime"), const_cast<char*>("()J"), reinterpret_cast<void*>(cpu_time)},
};

// --- events ---

void JNICALL on_class_prepare(jvmtiEnv*, JNIEnv* jni, jthread, jclass cls) {
  std::unique_lock lock(g_subgraph->mutex);
  if (g_subgraph->is_ending) return;
  g_subgraph->reveal.add_class(jni, cls);
  hand_over(lock);
}

// Only classes that are changed while they run: those that are loaded have no methods selected yet.
void JNICALL on_class_file_load(jvmtiEnv* jvmti, JNIEnv*, jclass changed, jobject, const char*, jobject, jint size,
                                const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  if (changed == nullptr) return;
  Subgraph& s = *g_subgraph;
  const std::lock_guard lock(s.mutex);
  const ClassKey key = s.reveal.classes().key_of(changed);
  if (key == 0) return;
  s.plan.rewrite(key, {bytes, static_cast<std::size_t>(size)}, s.reveal.classes()[key].is_of_jdk, [&](Bytes result) {
    unsigned char* copy = nullptr;
    if (jvmti->Allocate(static_cast<jlong>(result.size()), &copy) != JVMTI_ERROR_NONE) return;
    std::memcpy(copy, result.data(), result.size());
    *new_bytes = copy;
    *new_size = static_cast<jint>(result.size());
  });
}

void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  Subgraph& s = *g_subgraph;
  const std::uint64_t number = s.runtime.number_of(jni, thread);
  const std::lock_guard lock(s.mutex);
  arena::SubgraphEntry& entry = s.runtime.entry_of(number);
  if (entry.thread != number || entry.tree == 0) return;
  s.trees.release(entry.tree);
  entry = {};
}

// --- the thread that changes classes ---

void note_pause(std::uint64_t ns) {
  Subgraph& s = *g_subgraph;
  arena::SubgraphInfo& info = s.arena.header().subgraph;
  s.pauses.push_back(ns);
  std::vector<std::uint64_t> sorted = s.pauses;
  const auto p99 = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() * 99 - 1) / 100);
  std::ranges::nth_element(sorted, p99);
  info.batches = s.pauses.size();
  info.batch_ns += ns;
  info.batch_max_ns = std::max(info.batch_max_ns, ns);
  info.batch_p99_ns = *p99;
}

// Without the lock: the JVM calls on_class_file_load.
void change(JNIEnv* jni, std::span<const ClassKey> keys) {
  Subgraph& s = *g_subgraph;
  std::vector<jclass> classes;
  std::vector<ClassKey> alive;
  {
    const std::lock_guard lock(s.mutex);
    for (const ClassKey key : keys) {
      const jclass cls = s.reveal.classes().reference(jni, key);
      if (cls == nullptr) continue;
      classes.push_back(cls);
      alive.push_back(key);
    }
  }
  const std::uint64_t begin = monotonic_ns();
  const auto count = static_cast<jint>(classes.size());
  const bool changed = count == 0 || s.jvmti->RetransformClasses(count, classes.data()) == JVMTI_ERROR_NONE;
  const std::uint64_t ns = monotonic_ns() - begin;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!changed && s.jvmti->RetransformClasses(1, &classes[i]) != JVMTI_ERROR_NONE) {
      const std::lock_guard lock(s.mutex);
      s.plan.refuse(alive[i]);
    }
    jni->DeleteLocalRef(classes[i]);
  }
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  const std::lock_guard lock(s.mutex);
  note_pause(ns);
}

void change_all(JNIEnv* jni, const std::vector<ClassKey>& keys) {
  for (std::size_t first = 0; first < keys.size(); first += kBatch)
    change(jni, std::span(keys).subspan(first, std::min(kBatch, keys.size() - first)));
}

void change_until_end(JNIEnv* jni) {
  Subgraph& s = *g_subgraph;
  std::unique_lock lock(s.mutex);
  while (!s.is_ending) {
    if (!s.reveal.has_changed()) {
      s.has_work.wait(lock);
      continue;
    }
    const std::vector<ClassKey> keys = s.reveal.take_changed();
    const std::uint64_t batch = s.collecting++;
    lock.unlock();
    change_all(jni, keys);
    lock.lock();
    s.reveal.changed();
    s.done = batch;
    s.has_done.notify_all();
  }
  s.has_ended = true;
  s.has_done.notify_all();
}

void calibrate(JNIEnv* jni) {
  Subgraph& s = *g_subgraph;
  if (s.options.subgraph.time == arena::SubgraphTime::kNone) return;
  const auto cost = s.runtime.calibrate(jni, s.options.subgraph.time == arena::SubgraphTime::kCpu);
  arena::SubgraphInfo& info = s.arena.header().subgraph;
  info.inner_ps = cost.inner_ps;
  info.outer_ps = cost.outer_ps;
  info.inner_error_ps = cost.inner_error_ps;
  info.outer_error_ps = cost.outer_error_ps;
}

void run_own_thread() {
  Subgraph& s = *g_subgraph;
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("sonde"), .group = nullptr};
  JNIEnv* jni = nullptr;
  if (s.vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni), &arguments) != JNI_OK) return;
  change_until_end(jni);
  s.vm->DetachCurrentThread();
}

// --- begin and end ---

bool add_capabilities(jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted{};
  wanted.can_retransform_classes = 1;
  wanted.can_tag_objects = 1;
  wanted.can_get_bytecodes = 1;
  wanted.can_get_constant_pool = 1;
  if (has_virtual_threads(jvmti)) want_virtual_threads(wanted);
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

bool switch_events(jvmtiEnv* jvmti, jvmtiEventMode mode) {
  return switch_event(jvmti, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, mode) &&
         switch_event(jvmti, JVMTI_EVENT_CLASS_PREPARE, mode) && switch_event(jvmti, JVMTI_EVENT_THREAD_END, mode) &&
         (!has_virtual_threads(jvmti) || switch_event(jvmti, kVirtualThreadEnd, mode));
}

bool enable_events(jvmtiEnv* jvmti) {
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassPrepare = on_class_prepare;
  callbacks.ClassFileLoadHook = on_class_file_load;
  callbacks.ThreadEnd = on_thread_end;
  return set_callbacks(jvmti, callbacks, nullptr, on_thread_end) && switch_events(jvmti, JVMTI_ENABLE);
}

Result<void> begin(JNIEnv* jni) {
  Subgraph& s = *g_subgraph;
  TRY(s.runtime.define(s.jvmti, jni, kNatives));
  TRY(s.plan.create(SubgraphRuntime::site_bytes()));
  if (!s.runtime.begin(jni)) return Error{ErrorCode::kUnsupported, "java.lang.SondeSubgraph has no memory"};
  s.virtual_thread = find_class(jni, "java/lang/BaseVirtualThread");
  s.reveal.classes().set_platform_loader(find_loader(jni, "getPlatformClassLoader"));
  s.arena.header().subgraph.time = s.options.subgraph.time;
  s.arena.header().subgraph.scheme = s.options.subgraph.scheme;
  if (!enable_events(s.jvmti)) return Error{ErrorCode::kUnsupported, "the JVM does not tell of its classes"};
  {
    const std::lock_guard lock(s.mutex);
    s.reveal.find_roots(jni);
  }
  calibrate(jni);
  s.runtime.open(jni);
  std::thread(run_own_thread).detach();
  if (s.options.subgraph.scheme != arena::SubgraphScheme::kRegion) watch_upcalls(s.jvmti, on_upcall);
  return {};
}

// From here on no class is changed any more.
void stop_own_thread(std::unique_lock<std::mutex>& lock) {
  Subgraph& s = *g_subgraph;
  s.is_ending = true;
  s.has_work.notify_one();
  s.has_done.notify_all();
  s.has_done.wait_for(lock, 2s, [&] { return s.has_ended; });
  if (const std::size_t missing = s.reveal.missing_roots(); missing != 0)
    s.arena.count(Counter::kSubgraphRootsMissing, missing);
}

}  // namespace

Result<void> SubgraphTiming::prepare() {
  jvmtiEnv* jvmti = new_environment(vm_);
  if (jvmti == nullptr || !add_capabilities(jvmti))
    return Error{ErrorCode::kUnsupported, "the JVM does not let classes be changed while it runs"};
  g_subgraph = new Subgraph(vm_, jvmti, arena_, options_);
  return {};
}

Result<void> SubgraphTiming::start(JNIEnv* jni) { return begin(jni); }

void SubgraphTiming::stop(JNIEnv* jni) {
  Subgraph& s = *g_subgraph;
  std::vector<ClassKey> changed;
  {
    std::unique_lock lock(s.mutex);
    stop_own_thread(lock);
    changed = s.plan.clear();
  }
  unwatch_upcalls(s.jvmti);
  change_all(jni, changed);
  s.runtime.end(jni);
  switch_events(s.jvmti, JVMTI_DISABLE);
  s.jvmti->DisposeEnvironment();
}

void SubgraphTiming::vm_ends(JNIEnv*) {
  std::unique_lock lock(g_subgraph->mutex);
  stop_own_thread(lock);
}

}  // namespace sonde::agent
