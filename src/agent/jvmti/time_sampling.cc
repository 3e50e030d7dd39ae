// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/time_sampling.h"

#include <jvmti.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "agent/jvmti/agct_decoder.h"
#include "agent/sampler/agct_walk.h"
#include "agent/sampler/sampler.h"
#include "agent/session/recording_state.h"
#include "agent/vm/hotspot/hotspot_decoder.h"
#include "agent/vm/hotspot/stack_walk_x64.h"

namespace sonde::agent {
namespace {

// One per process, made at load and never destroyed: callbacks and handlers may run while the process exits.
struct Sampling {
  Sampling(JavaVM* java_vm, jvmtiEnv* env, arena::Writer& writer, const Options& options)
      : vm(java_vm),
        jvmti(env),
        arena(writer),
        methods(writer),
        agct(env, writer, methods),
        sampler(writer, methods,
                {.cpu_interval_ns = options.cpu_interval_ns,
                 .wall_interval_ns = options.wall_interval_ns,
                 .timers_only = options.clock == "timer"}),
        wants_agct(options.walker == "agct") {}

  JavaVM* vm;
  jvmtiEnv* jvmti;
  arena::Writer& arena;
  SampledMethods methods;
  AgctDecoder agct;
  hotspot::CodeCache code_cache;
  std::unique_ptr<hotspot::HotspotDecoder> hotspot;  // null: the JVM's layout is not known
  Sampler sampler;
  const bool wants_agct;
  jclass virtual_thread = nullptr;  // global references; null before JDK 21
  jobject loaders[2] = {};          // those that are never unloaded: platform and system
  jfieldID eetop = nullptr;         // java.lang.Thread: JavaThread*
};
Sampling* g_sampling = nullptr;

void say(const std::string& message) { std::fprintf(stderr, "sonde: %s\n", message.c_str()); }

pid_t current_tid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

std::string thread_name(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return "";
  std::string name = info.name == nullptr ? "" : info.name;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  jni->DeleteLocalRef(info.thread_group);
  jni->DeleteLocalRef(info.context_class_loader);
  return name;
}

void find_own_stack(std::uint64_t& low, std::uint64_t& high) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* address = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
    low = reinterpret_cast<std::uint64_t>(address);
    high = low + size;
  }
  pthread_attr_destroy(&attributes);
}

bool is_virtual(JNIEnv* jni, jthread thread) {
  return g_sampling->virtual_thread != nullptr && jni->IsInstanceOf(thread, g_sampling->virtual_thread) != JNI_FALSE;
}

JavaThreadInfo describe(JNIEnv* jni, jthread thread) {
  const Sampling& sampling = *g_sampling;
  return {.tid = 0,
          .name = thread_name(sampling.jvmti, jni, thread),
          .java_thread = static_cast<std::uint64_t>(jni->GetLongField(thread, sampling.eetop)),
          .jni_env = nullptr,
          .stack_low = 0,
          .stack_high = 0};
}

// As the JVM knows its stack.
void find_stack(JavaThreadInfo& info) {
  const hotspot::Layout& layout = g_sampling->code_cache.layout();
  info.stack_high = hotspot::load<std::uint64_t>(info.java_thread + layout.thread_stack_base);
  info.stack_low = info.stack_high - hotspot::load<std::uint64_t>(info.java_thread + layout.thread_stack_size);
}

// The calling thread becomes one that is sampled.
void add_current_thread(JNIEnv* jni, jthread thread) {
  if (is_virtual(jni, thread)) return;
  JavaThreadInfo info = describe(jni, thread);
  info.tid = current_tid();
  info.jni_env = jni;
  if (g_sampling->hotspot != nullptr && info.java_thread != 0) {
    find_stack(info);
  } else {
    find_own_stack(info.stack_low, info.stack_high);
  }
  g_sampling->sampler.thread_started(info);
}

// Those that run already. They cannot end while the JVM starts.
void add_existing_threads(jvmtiEnv* jvmti, JNIEnv* jni) {
  jint count = 0;
  jthread* threads = nullptr;
  if (g_sampling->hotspot == nullptr || jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  const hotspot::Layout& layout = g_sampling->code_cache.layout();
  for (jint i = 0; i < count; ++i) {
    JavaThreadInfo info = describe(jni, threads[i]);
    jni->DeleteLocalRef(threads[i]);
    if (info.java_thread == 0) continue;
    const auto osthread = hotspot::load<std::uint64_t>(info.java_thread + layout.thread_osthread);
    if (osthread == 0) continue;
    info.tid = hotspot::load<pid_t>(osthread + layout.osthread_id);
    find_stack(info);
    if (info.tid != current_tid()) g_sampling->sampler.thread_started(info);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

jclass find_class(JNIEnv* jni, const char* name) {
  const jclass local = jni->FindClass(name);
  if (local == nullptr) {
    jni->ExceptionClear();
    return nullptr;
  }
  return static_cast<jclass>(jni->NewGlobalRef(local));
}

void find_permanent_loaders(JNIEnv* jni) {
  const jclass cls = jni->FindClass("java/lang/ClassLoader");
  const char* names[] = {"getPlatformClassLoader", "getSystemClassLoader"};
  for (int i = 0; i < 2; ++i) {
    const jmethodID get = jni->GetStaticMethodID(cls, names[i], "()Ljava/lang/ClassLoader;");
    const jobject loader = get == nullptr ? nullptr : jni->CallStaticObjectMethod(cls, get);
    if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
    if (loader != nullptr) g_sampling->loaders[i] = jni->NewGlobalRef(loader);
  }
}

// Hidden classes may go although their loader stays: "Lapp/Main$$Lambda.0x7f;" or ".../0x7f;".
bool may_be_unloaded(jvmtiEnv* jvmti, JNIEnv* jni, jclass cls) {
  jobject loader = nullptr;
  if (jvmti->GetClassLoader(cls, &loader) != JVMTI_ERROR_NONE) return true;
  if (loader != nullptr && jni->IsSameObject(loader, g_sampling->loaders[0]) == JNI_FALSE &&
      jni->IsSameObject(loader, g_sampling->loaders[1]) == JNI_FALSE) {
    return true;
  }
  char* signature = nullptr;
  if (jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return true;
  const bool is_hidden = std::string_view(signature).find(".0x") != std::string_view::npos ||
                         std::string_view(signature).find('.') != std::string_view::npos;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return is_hidden;
}

void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) {
  // AsyncGetCallTrace works only while somebody wants this event.
}

void JNICALL on_class_prepare(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass cls) {
  g_sampling->agct.prepare(cls, may_be_unloaded(jvmti, jni, cls));
}

void prepare_loaded_classes(jvmtiEnv* jvmti, JNIEnv* jni) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    g_sampling->agct.prepare(classes[i], may_be_unloaded(jvmti, jni, classes[i]));
    jni->DeleteLocalRef(classes[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

// JVMTI, which the decoding thread asks for names, wants to know it.
void attach_own_thread() {
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("sonde"), .group = nullptr};
  void* env = nullptr;
  g_sampling->vm->AttachCurrentThreadAsDaemon(&env, &arguments);
}

void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) { add_current_thread(jni, thread); }

void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (!is_virtual(jni, thread)) g_sampling->sampler.thread_ended(current_tid());
}

// Before classes are unloaded: what was sampled gets its names now.
void JNICALL on_collection_start(jvmtiEnv*) { g_sampling->sampler.drain(); }

// An event that JVMTI lists as HotSpot's own.
void JNICALL on_class_unload(jvmtiEnv*, ...) { g_sampling->hotspot->doubt(); }

void watch_unloading(jvmtiEnv* jvmti) {
  jint count = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  if (jvmti->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    if (std::string_view(events[i].id) == "com.sun.hotspot.events.ClassUnload") {
      jvmti->SetExtensionEventCallback(events[i].extension_event_index, on_class_unload);
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].id));
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].short_description));
    for (jint p = 0; p < events[i].param_count; ++p) {
      jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].params[p].name));
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(events[i].params));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(events));
}

ThreadGlance glance_at(std::uint64_t java_thread) {
  const hotspot::Layout& layout = g_sampling->code_cache.layout();
  const std::uint64_t anchor = java_thread + layout.thread_anchor;
  return {.state = hotspot::load<std::uint32_t>(java_thread + layout.thread_state),
          .anchor_sp = hotspot::load<std::uint64_t>(anchor + layout.anchor_sp),
          .anchor_pc = hotspot::load<std::uint64_t>(anchor + layout.anchor_pc)};
}

// Offsets of fields in objects, which the JVM chooses; the JDK's own Unsafe knows them.
class FieldOffsets {
 public:
  explicit FieldOffsets(JNIEnv* jni) : jni_(jni), unsafe_class_(jni->FindClass("jdk/internal/misc/Unsafe")) {
    const jmethodID get = jni->GetStaticMethodID(unsafe_class_, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    unsafe_ = jni->CallStaticObjectMethod(unsafe_class_, get);
    offset_of_ = jni->GetMethodID(unsafe_class_, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  }

  std::uint32_t operator()(const char* class_name, const char* field) {
    const jclass cls = jni_->FindClass(class_name);
    const jstring name = cls == nullptr ? nullptr : jni_->NewStringUTF(field);
    const jlong offset = name == nullptr ? 0 : jni_->CallLongMethod(unsafe_, offset_of_, cls, name);
    if (jni_->ExceptionCheck() != JNI_FALSE) jni_->ExceptionClear();
    if (offset <= 0) is_complete_ = false;
    return static_cast<std::uint32_t>(offset);
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  JNIEnv* jni_;
  jclass unsafe_class_;
  jobject unsafe_;
  jmethodID offset_of_;
  bool is_complete_ = true;
};

void find_frozen_frames(JNIEnv* jni, const hotspot::VmStructs& structs) {
  hotspot::FrozenLayout layout = hotspot::find_frozen_layout(structs);
  if (!layout.is_known) return;
  FieldOffsets offset_of(jni);
  layout.continuation_tail = offset_of("jdk/internal/vm/Continuation", "tail");
  layout.chunk_parent = offset_of("jdk/internal/vm/StackChunk", "parent");
  layout.chunk_size = offset_of("jdk/internal/vm/StackChunk", "size");
  layout.chunk_sp = offset_of("jdk/internal/vm/StackChunk", "sp");
  layout.chunk_bottom = offset_of("jdk/internal/vm/StackChunk", "bottom");
  if (offset_of.is_complete()) hotspot::set_frozen_layout(layout);
}

void enable(jvmtiEnv* jvmti, jvmtiEvent event) { jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr); }

// Our own walker where the JVM's layout is known, the JVM's elsewhere.
Result<void> start_sampler(jvmtiEnv* jvmti, JNIEnv* jni) {
  Sampling& sampling = *g_sampling;
  const hotspot::VmStructs structs = hotspot::VmStructs::load();
  const auto layout = hotspot::find_layout(structs);
  if (layout.ok() && !sampling.wants_agct) {
    sampling.code_cache.find(*layout);
    sampling.hotspot = std::make_unique<hotspot::HotspotDecoder>(sampling.code_cache, sampling.arena, sampling.methods);
    hotspot::set_code_cache(sampling.code_cache);
    if (sampling.virtual_thread != nullptr) find_frozen_frames(jni, structs);
    watch_unloading(jvmti);
    TRY(sampling.sampler.start({.walker = arena::Walker::kVmStructs,
                                .walk = hotspot::walk_java_stack,
                                .decoder = sampling.hotspot.get(),
                                .glance = glance_at}));
    enable(jvmti, JVMTI_EVENT_GARBAGE_COLLECTION_START);
    return {};
  }
  if (!find_agct()) return Error{ErrorCode::kUnsupported, layout.error().message + " and it shows no stacks itself"};
  enable(jvmti, JVMTI_EVENT_CLASS_LOAD);
  enable(jvmti, JVMTI_EVENT_CLASS_PREPARE);
  prepare_loaded_classes(jvmti, jni);
  return sampling.sampler.start({.walker = arena::Walker::kAsyncGetCallTrace,
                                 .walk = walk_by_agct,
                                 .decoder = &sampling.agct,
                                 .on_own_thread = attach_own_thread});
}

void JNICALL on_vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  Sampling& sampling = *g_sampling;
  sampling.virtual_thread = find_class(jni, "java/lang/BaseVirtualThread");
  sampling.eetop = jni->GetFieldID(jni->FindClass("java/lang/Thread"), "eetop", "J");
  find_permanent_loaders(jni);
  mark_running(sampling.arena);
  const auto started = start_sampler(jvmti, jni);
  if (!started.ok()) return say(started.error().to_string() + "; nothing is sampled");
  add_current_thread(jni, thread);
  add_existing_threads(jvmti, jni);
}

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv*) {
  g_sampling->sampler.stop();
  mark_ended(g_sampling->arena);
}

bool enable_events(jvmtiEnv* jvmti) {
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  callbacks.ClassLoad = on_class_load;
  callbacks.ClassPrepare = on_class_prepare;
  callbacks.GarbageCollectionStart = on_collection_start;
  if (jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) return false;
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END}) {
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE) return false;
  }
  return true;
}

}  // namespace

Result<void> start_time_sampling(JavaVM* vm, arena::Writer& arena, const Options& options) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Error{ErrorCode::kUnsupported, "this JVM does not show stacks to samplers"};
  }
  jvmtiCapabilities wanted{};
  wanted.can_get_source_file_name = 1;
  wanted.can_get_line_numbers = 1;
  wanted.can_generate_garbage_collection_events = 1;
  jvmti->AddCapabilities(&wanted);
  g_sampling = new Sampling(vm, jvmti, arena, options);
  if (!enable_events(jvmti)) return Error{ErrorCode::kUnsupported, "the JVM does not tell of its threads"};
  return {};
}

}  // namespace sonde::agent
