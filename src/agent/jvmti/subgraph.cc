// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/subgraph.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "agent/jvmti/class_batches.h"
#include "agent/jvmti/jni_upcalls.h"
#include "agent/jvmti/jvm.h"
#include "agent/jvmti/method_handles.h"
#include "agent/jvmti/subgraph_changes.h"
#include "agent/jvmti/subgraph_runtime.h"
#include "agent/session/nowhere.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

using namespace std::chrono_literals;

// What stays from one recording to the next. Never destroyed: callbacks may still run while the process exits.
MethodNumbers& g_numbers = *new MethodNumbers;
SubgraphRuntime g_runtime;

std::shared_mutex g_use;  // held shared by whoever uses it; guards what follows
Subgraph* g_subgraph = nullptr;

// What is on, null if nothing is; it stays until this object is gone.
class InUse {
 public:
  [[nodiscard]] Subgraph* get() const { return g_subgraph; }

 private:
  const std::shared_lock<std::shared_mutex> lock_{g_use};
};

// Returns when nobody uses what was on before.
void set_subgraph(Subgraph* subgraph) {
  const std::unique_lock lock(g_use);
  g_subgraph = subgraph;
}

// --- what SondeSubgraph asks for, on threads of the program ---

jboolean JNICALL lease(JNIEnv* jni, jclass, jobject thread, jlong number) {
  const InUse use;
  if (use.get() == nullptr) return JNI_FALSE;
  Subgraph& s = *use.get();
  const ThreadFacts facts = facts_of(s.jvmti, jni, thread, s.virtual_thread);
  const std::lock_guard lock(s.mutex);
  arena::SubgraphEntry& entry = g_runtime.entry_of(static_cast<std::uint64_t>(number));
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
  const InUse use;
  const bool grown =
      use.get() != nullptr && use.get()->trees.grow(static_cast<std::uint64_t>(tree), static_cast<std::uint32_t>(size));
  return grown ? JNI_TRUE : JNI_FALSE;
}

void JNICALL request(JNIEnv* jni, jclass, jint site, jclass receiver) {
  const InUse use;
  if (use.get() == nullptr) return;
  Subgraph& s = *use.get();
  std::unique_lock lock(s.mutex);
  if (s.is_ending || static_cast<std::size_t>(site) >= s.plan.site_count()) return;
  s.reveal.meet(jni, static_cast<std::uint32_t>(site), receiver);
  hand_over(s, lock);
  s.plan.settle(static_cast<std::uint32_t>(site));
}

void JNICALL request_reflected(JNIEnv* jni, jclass, jobject handle) {
  const jmethodID method = method_of_handle(jni, handle);
  const InUse use;
  if (use.get() == nullptr) return;
  Subgraph& s = *use.get();
  std::unique_lock lock(s.mutex);
  if (method == nullptr || s.is_ending) return;
  s.reveal.meet(jni, method, nullptr, SubgraphReveal::By::kHandle);
  hand_over(s, lock);
}

// Native code calls a method.
void on_upcall(JNIEnv* jni, jobject receiver, jmethodID method) {
  if (jni->ExceptionCheck() != JNI_FALSE || !g_runtime.is_inside(jni)) return;
  const InUse use;
  if (use.get() == nullptr) return;
  Subgraph& s = *use.get();
  const jclass cls = receiver == nullptr ? nullptr : jni->GetObjectClass(receiver);
  std::unique_lock lock(s.mutex);
  if (!s.is_ending && s.phase == Subgraph::Phase::kRevealing) {
    s.reveal.meet(jni, method, cls, SubgraphReveal::By::kNative);
    hand_over(s, lock);
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
  const InUse use;
  if (use.get() == nullptr) return;
  Subgraph& s = *use.get();
  std::unique_lock lock(s.mutex);
  if (s.is_ending) return;
  s.reveal.add_class(jni, cls);
  hand_over(s, lock);
}

// Only classes that are changed while they run: those that are loaded have no methods selected yet.
void JNICALL on_class_file_load(jvmtiEnv* jvmti, JNIEnv*, jclass changed, jobject, const char*, jobject, jint size,
                                const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  const InUse use;
  if (changed == nullptr || use.get() == nullptr) return;
  Subgraph& s = *use.get();
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
  const InUse use;
  if (use.get() == nullptr) return;
  Subgraph& s = *use.get();
  const std::uint64_t number = g_runtime.number_of(jni, thread);
  const std::lock_guard lock(s.mutex);
  arena::SubgraphEntry& entry = g_runtime.entry_of(number);
  if (entry.thread != number || entry.tree == 0) return;
  s.trees.release(entry.tree);
  entry = {};
}

void calibrate(Subgraph& s, JNIEnv* jni) {
  if (s.options.subgraph.time == arena::SubgraphTime::kNone) return;
  const auto cost = g_runtime.calibrate(jni, s.options.subgraph.time == arena::SubgraphTime::kCpu);
  arena::SubgraphInfo& info = s.arena.header().subgraph;
  info.inner_ps = cost.inner_ps;
  info.outer_ps = cost.outer_ps;
  info.inner_error_ps = cost.inner_error_ps;
  info.outer_error_ps = cost.outer_error_ps;
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

Result<jvmtiEnv*> make_environment(JavaVM* vm) {
  jvmtiEnv* jvmti = new_environment(vm);
  if (jvmti != nullptr && add_capabilities(jvmti)) return jvmti;
  if (jvmti != nullptr) jvmti->DisposeEnvironment();
  return Error{ErrorCode::kUnsupported, "the JVM does not let classes be changed while it runs"};
}

Result<void> begin(Subgraph& s, JNIEnv* jni) {
  const std::uint64_t bias = s.options.is_attached ? TRY(map_nowhere_somewhere()) : kBias;
  TRY(g_runtime.define(s.jvmti, jni, bias, kNatives));
  TRY(s.plan.begin(SubgraphRuntime::site_bytes()));
  g_runtime.begin(jni);
  if (!s.options.subgraph.begins_bare() && !begin_to_reveal(s, jni))
    return Error{ErrorCode::kUnsupported, "java.lang.SondeSubgraph has no memory"};
  s.virtual_thread = find_class(jni, "java/lang/BaseVirtualThread");
  s.reveal.classes().set_platform_loader(find_loader(jni, "getPlatformClassLoader"));
  s.arena.header().flags |= arena::kSubgraph;
  s.arena.header().subgraph.time = s.options.subgraph.time;
  s.arena.header().subgraph.scheme = s.options.subgraph.scheme;
  if (!enable_events(s.jvmti)) return Error{ErrorCode::kUnsupported, "the JVM does not tell of its classes"};
  {
    std::unique_lock lock(s.mutex);
    s.reveal.find_roots(jni);
    if (s.reveal.has_changed()) change_revealed(s, jni, lock);
  }
  calibrate(s, jni);
  g_runtime.set_open(jni, true);
  if (!s.thread.start("sonde", [&s] { change_until_end(s); }))
    return Error{ErrorCode::kIo, "the thread that changes classes cannot be started"};
  if (!s.options.subgraph.is_region()) watch_upcalls(s.jvmti, on_upcall);
  return {};
}

// From here on nothing new is instrumented.
void announce_end(Subgraph& s) {
  s.is_ending = true;
  s.has_work.notify_one();
  s.has_done.notify_all();
  if (const std::size_t missing = s.reveal.missing_roots(); missing != 0)
    s.arena.count(Counter::kSubgraphRootsMissing, missing);
}

// What has been changed is changed back while the class hook is on (growing_pools.h).
void end(Subgraph& s, JNIEnv* jni) {
  std::vector<ClassKey> changed;
  {
    const std::lock_guard lock(s.mutex);
    announce_end(s);
  }
  s.thread.join();
  unwatch_upcalls(s.jvmti);
  {
    const std::lock_guard lock(s.mutex);
    changed = s.plan.clear();
    const bool has_changed = !changed.empty();
    for (const ClassKey last : s.reveal.classes().named(kInlinedWithHandles)) {
      std::erase(changed, last);
      if (has_changed) changed.push_back(last);
    }
  }
  change_all(s, jni, changed);
  g_runtime.end(jni);
  switch_events(s.jvmti, JVMTI_DISABLE);
  set_subgraph(nullptr);
  s.reveal.classes().release(jni);
  if (s.virtual_thread != nullptr) jni->DeleteGlobalRef(s.virtual_thread);
  s.jvmti->DisposeEnvironment();
  delete &s;
}

}  // namespace

SubgraphTiming::SubgraphTiming(JavaVM* vm, arena::Writer& arena, Options options)
    : vm_(vm),
      arena_(arena),
      options_(std::move(options)),
      trees_(arena),
      plan_(arena, options_.subgraph, options_.is_attached ? &g_numbers : nullptr) {}

std::string_view SubgraphTiming::name() const { return options_.subgraph.is_region() ? "region" : "subgraph"; }

Result<void> SubgraphTiming::prepare() {
  jvmti_ = TRY(make_environment(vm_));
  return {};
}

Result<void> SubgraphTiming::start(JNIEnv* jni) {
  jvmtiEnv* jvmti = jvmti_ != nullptr ? std::exchange(jvmti_, nullptr) : TRY(make_environment(vm_));
  auto* subgraph = new Subgraph(vm_, jvmti, g_runtime, arena_, options_, trees_, plan_, costs_);
  set_subgraph(subgraph);
  auto begun = begin(*subgraph, jni);
  if (!begun.ok()) end(*subgraph, jni);
  return begun;
}

void SubgraphTiming::stop(JNIEnv* jni) { end(*g_subgraph, jni); }

void SubgraphTiming::vm_ends(JNIEnv*) {
  Subgraph& s = *g_subgraph;
  std::unique_lock lock(s.mutex);
  announce_end(s);
  s.has_done.wait_for(lock, 2s, [&] { return s.has_ended; });
}

void SubgraphTiming::retire(JNIEnv*) {
  SubgraphRuntime::forget_threads();
  arena_.leave_memory();
}

// From the recording, for its thread goes on changing classes.
BatchSummary SubgraphTiming::batches() const {
  const arena::SubgraphInfo& info = arena_.header().subgraph;
  return {.batches = info.batches,
          .classes = info.classes,
          .took = {.total = info.batch_ns, .p99 = info.batch_p99_ns, .longest = info.batch_max_ns},
          .paused = {.total = info.paused_ns, .p99 = info.paused_p99_ns, .longest = info.paused_max_ns}};
}

}  // namespace sonde::agent
