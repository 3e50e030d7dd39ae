// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/time_sampling.h"

#include <jvmti.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "agent/jvmti/agct_classes.h"
#include "agent/jvmti/agct_decoder.h"
#include "agent/jvmti/frozen_fields.h"
#include "agent/jvmti/java_threads.h"
#include "agent/sampler/agct_walk.h"
#include "agent/sampler/perf_event.h"
#include "agent/sampler/sampler.h"
#include "agent/vm/hotspot/full_debug_info.h"
#include "agent/vm/hotspot/hotspot_decoder.h"
#include "agent/vm/hotspot/stack_walk_x64.h"
#include "agent/vm/native/unwinder.h"

namespace sonde::agent {
namespace {

// What is the same for all recordings of a process. Never destroyed: callbacks and handlers may run while it exits.
struct Jvm {
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;
  SlotTable slots;
  std::optional<hotspot::VmStructs> structs;  // found when the first recording begins, like all that follows
  Result<hotspot::Layout> layout = Error{ErrorCode::kUnsupported, ""};
  hotspot::CodeCache code_cache;
  hotspot::MethodLog methods;
  hotspot::ParkLayout parking;
  std::unique_ptr<JavaThreads> threads;
  std::unique_ptr<AgctClasses> classes;
  hotspot::FullDebugInfo debug_info;
  jint unload_event = -1;  // HotSpot's own event; -1 if it has none
  SharedEvent shared_event;
};
Jvm* g_jvm = nullptr;

bool is_java(std::uint64_t pc) { return g_jvm->code_cache.contains(pc); }

CpuClock::Wanted wanted_clock(const Options& options) {
  if (options.clock == "timer") return CpuClock::Wanted::kTimer;
  if (options.clock == "trap") return CpuClock::Wanted::kTraps;
  return options.clock == "perf" ? CpuClock::Wanted::kNoTraps : CpuClock::Wanted::kAny;
}

// One recording.
struct Sampling {
  Sampling(arena::Writer& writer, const Options& options, SampledMethods& sampled, SampleTrees& trees)
      : arena(writer),
        methods(sampled),
        agct(g_jvm->vm, g_jvm->jvmti, writer, methods),
        sampler(g_jvm->slots, writer, methods, trees,
                {.cpu_interval_ns = options.cpu_interval_ns,
                 .wall_interval_ns = options.wall_interval_ns,
                 .clock = wanted_clock(options),
                 .shared_event = &g_jvm->shared_event}),
        wants_agct(options.walker == "agct") {
    if (options.native) native = std::make_unique<native::Unwinder>(methods, is_java);
  }

  arena::Writer& arena;
  SampledMethods& methods;
  AgctDecoder agct;
  std::unique_ptr<hotspot::HotspotDecoder> hotspot;  // null: the JVM's layout is not known
  std::unique_ptr<native::Unwinder> native;          // null: not wanted
  Sampler sampler;
  const bool wants_agct;
  std::mutex listing;  // held while the threads are listed; those that start or end wait
};

std::atomic<Sampling*> g_sampling{nullptr};
std::atomic<int> g_callbacks{0};

// What a callback works with. Like the handler it counts itself before it looks, and stop() looks after it has taken
// the recording away, so one of them sees the other.
class Current {
 public:
  Current() {
    g_callbacks.fetch_add(1);
    sampling_ = g_sampling.load();
  }
  ~Current() { g_callbacks.fetch_sub(1); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  explicit operator bool() const { return sampling_ != nullptr; }
  Sampling* operator->() const { return sampling_; }
  Sampling& operator*() const { return *sampling_; }

 private:
  Sampling* sampling_;
};

void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) {
  // AsyncGetCallTrace works only while somebody wants this event.
}

void JNICALL on_compiled_method(jvmtiEnv*, jmethodID, jint, const void*, jint, const jvmtiAddrLocationMap*,
                                const void*) {
  // HotSpot describes all instructions of compiled code while somebody wants this event. For those that have no flag.
}

void JNICALL on_class_prepare(jvmtiEnv*, JNIEnv* jni, jthread, jclass cls) {
  if (const Current recording; recording) g_jvm->classes->prepare(recording->agct, jni, cls);
}

void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const Current recording;
  if (!recording || g_jvm->threads->is_virtual(jni, thread)) return;
  const std::lock_guard lock(recording->listing);
  recording->sampler.thread_started(g_jvm->threads->describe_current(jni, thread));
}

void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const Current recording;
  if (!recording || g_jvm->threads->is_virtual(jni, thread)) return;
  const std::lock_guard lock(recording->listing);
  recording->sampler.current_thread_ended();
}

// Before classes are unloaded, and methods freed that were redefined: what was sampled gets its names now, and an
// address may mean something else from now on.
void JNICALL on_collection_start(jvmtiEnv*) {
  const Current recording;
  if (!recording) return;
  recording->sampler.drain();
  if (recording->hotspot != nullptr) recording->hotspot->doubt();
}

void JNICALL on_class_unload(jvmtiEnv*, ...) {
  if (const Current recording; recording && recording->hotspot != nullptr) recording->hotspot->doubt();
}

void enable(jvmtiEvent event) { g_jvm->jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr); }

// An event that JVMTI lists as HotSpot's own.
jint find_unload_event(jvmtiEnv* jvmti) {
  jint count = 0;
  jint found = -1;
  jvmtiExtensionEventInfo* events = nullptr;
  if (jvmti->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return -1;
  for (jint i = 0; i < count; ++i) {
    if (std::string_view(events[i].id) == "com.sun.hotspot.events.ClassUnload") found = events[i].extension_event_index;
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].id));
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].short_description));
    for (jint p = 0; p < events[i].param_count; ++p) {
      jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].params[p].name));
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].params));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(events));
  return found;
}

void watch_unloading(jvmtiExtensionEvent callback) {
  if (g_jvm->unload_event >= 0) g_jvm->jvmti->SetExtensionEventCallback(g_jvm->unload_event, callback);
}

ThreadGlance glance_at(std::uint64_t java_thread) {
  const hotspot::Layout& layout = g_jvm->code_cache.layout();
  const std::uint64_t anchor = java_thread + layout.thread_anchor;
  return {.state = hotspot::load<std::uint32_t>(java_thread + layout.thread_state),
          .anchor_sp = hotspot::load<std::uint64_t>(anchor + layout.anchor_sp),
          .anchor_pc = hotspot::load<std::uint64_t>(anchor + layout.anchor_pc)};
}

std::string blocker_of(std::uint64_t java_thread) { return hotspot::blocker_class(g_jvm->parking, java_thread); }

// JVMTI, which the decoding thread asks for names with AsyncGetCallTrace, wants to know it.
void attach_own_thread() {
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("sonde"), .group = nullptr};
  void* env = nullptr;
  g_jvm->vm->AttachCurrentThreadAsDaemon(&env, &arguments);
}
void detach_own_thread() { g_jvm->vm->DetachCurrentThread(); }

void learn_jvm(JNIEnv* jni) {
  Jvm& jvm = *g_jvm;
  if (jvm.structs) return;
  jvm.structs = hotspot::VmStructs::load();
  jvm.layout = hotspot::find_layout(*jvm.structs);
  const bool is_known = jvm.layout.ok();
  jvm.threads = std::make_unique<JavaThreads>(jvm.jvmti, jni, is_known ? std::optional(*jvm.layout) : std::nullopt);
  jvm.classes = std::make_unique<AgctClasses>(jvm.jvmti, jni);
  jvm.unload_event = find_unload_event(jvm.jvmti);
  if (!is_known) return;
  jvm.code_cache.find(*jvm.layout);
  hotspot::set_code_cache(jvm.code_cache);
  jvm.parking = find_park_fields(jni, *jvm.structs, *jvm.layout);
  if (jvm.threads->has_virtual()) hotspot::set_frozen_layout(find_frozen_fields(jni, *jvm.structs));
}

// Our own walker where the JVM's layout is known, the JVM's elsewhere.
Result<void> start_sampler(Sampling& sampling, JNIEnv* jni) {
  Jvm& jvm = *g_jvm;
  if (jvm.layout.ok() && !sampling.wants_agct) {
    if (!jvm.methods.start(*jvm.layout)) return Error{ErrorCode::kIo, "no address space for the names of methods"};
    hotspot::set_method_log(jvm.methods);
    sampling.hotspot =
        std::make_unique<hotspot::HotspotDecoder>(jvm.code_cache, jvm.methods, sampling.arena, sampling.methods);
    watch_unloading(on_class_unload);
    TRY(sampling.sampler.start({.walker = arena::Walker::kVmStructs,
                                .walk = hotspot::walk_java_stack,
                                .decoder = sampling.hotspot.get(),
                                .native = sampling.native.get(),
                                .glance = glance_at,
                                .blocker = blocker_of}));
    enable(JVMTI_EVENT_GARBAGE_COLLECTION_START);
    return {};
  }
  if (!find_agct())
    return Error{ErrorCode::kUnsupported, jvm.layout.error().message + " and it shows no stacks itself"};
  enable(JVMTI_EVENT_CLASS_LOAD);
  enable(JVMTI_EVENT_CLASS_PREPARE);
  jvm.classes->prepare_loaded(sampling.agct, jni);
  return sampling.sampler.start({.walker = arena::Walker::kAsyncGetCallTrace,
                                 .walk = walk_by_agct,
                                 .decoder = &sampling.agct,
                                 .native = sampling.native.get(),
                                 .on_own_thread = attach_own_thread,
                                 .off_own_thread = detach_own_thread});
}

// The JVM is up: from here on its threads are sampled. One that `sonde run` starts has an option for its debug info.
Result<void> begin(Sampling& sampling, JNIEnv* jni, bool is_attached) {
  learn_jvm(jni);
  if (is_attached && !g_jvm->debug_info.begin(*g_jvm->structs)) enable(JVMTI_EVENT_COMPILED_METHOD_LOAD);
  TRY(start_sampler(sampling, jni));
  const std::lock_guard lock(sampling.listing);
  enable(JVMTI_EVENT_THREAD_START);
  enable(JVMTI_EVENT_THREAD_END);
  jthread current = nullptr;
  if (g_jvm->jvmti->GetCurrentThread(&current) == JVMTI_ERROR_NONE) {
    sampling.sampler.thread_started(g_jvm->threads->describe_current(jni, current));
    jni->DeleteLocalRef(current);
  }
  g_jvm->threads->for_each_other(
      jni, [&](const JavaThreadInfo& thread) { sampling.sampler.thread_started(thread); },
      [&](pid_t tid) { sampling.sampler.thread_ended(tid); });
  sampling.sampler.begin_shared();
  return {};
}

bool set_callbacks(jvmtiEnv* jvmti) {
  jvmtiEventCallbacks callbacks{};
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  callbacks.ClassLoad = on_class_load;
  callbacks.ClassPrepare = on_class_prepare;
  callbacks.CompiledMethodLoad = on_compiled_method;
  callbacks.GarbageCollectionStart = on_collection_start;
  return jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE;
}

Result<void> make_environment(JavaVM* vm) {
  if (g_jvm != nullptr) return {};
  auto jvm = std::make_unique<Jvm>();
  jvm->vm = vm;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvm->jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Error{ErrorCode::kUnsupported, "this JVM does not show stacks to samplers"};
  }
  jvmtiCapabilities wanted{};
  wanted.can_get_source_file_name = 1;
  wanted.can_get_line_numbers = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  jvm->jvmti->AddCapabilities(&wanted);
  if (!set_callbacks(jvm->jvmti)) return Error{ErrorCode::kUnsupported, "the JVM does not tell of its threads"};
  g_jvm = jvm.release();
  return {};
}

// This is the thread that creates the JVM, and there is hardly another one yet. Frames of the kernel need an event for
// each thread.
void open_shared_event(const Options& options) {
  if (options.cpu_interval_ns == 0 || options.native || options.walker == "agct") return;
  if (!CpuClock::wants_traps(wanted_clock(options), options.cpu_interval_ns) || !has_good_traps()) return;
  g_jvm->shared_event.open(options.cpu_interval_ns);
}

void disable_events() {
  for (const jvmtiEvent event :
       {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
        JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_GARBAGE_COLLECTION_START}) {
    g_jvm->jvmti->SetEventNotificationMode(JVMTI_DISABLE, event, nullptr);
  }
  watch_unloading(nullptr);
  g_jvm->debug_info.end();
}

}  // namespace

Result<void> TimeSampling::prepare() {
  TRY(make_environment(vm_));
  if (!options_.is_attached) open_shared_event(options_);
  return {};
}

Result<void> TimeSampling::start(JNIEnv* jni) {
  if (g_sampling.load() != nullptr) return Error{ErrorCode::kUnsupported, "this JVM is being sampled already"};
  TRY(make_environment(vm_));
  g_sampling.store(new Sampling(arena_, options_, methods_, trees_));
  auto begun = begin(*g_sampling.load(), jni, options_.is_attached);
  if (!begun.ok()) stop(jni);
  return begun;
}

void TimeSampling::stop(JNIEnv*) {
  Sampling* sampling = g_sampling.load();
  if (sampling == nullptr) return;
  disable_events();
  sampling->sampler.stop();
  g_sampling.store(nullptr);
  while (g_callbacks.load() != 0) sched_yield();
  delete sampling;
}

void TimeSampling::vm_ends(JNIEnv*) {
  if (const Current recording; recording) recording->sampler.stop();
}

}  // namespace sonde::agent
