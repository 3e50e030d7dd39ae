// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/counting.h"

#include <cstring>
#include <string>

#include "agent/jvmti/frames_alive.h"
#include "agent/jvmti/jvm.h"
#include "agent/jvmti/runtime_classes.h"
#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

Counting* g_counting = nullptr;  // for those that the JVM calls without saying for whom

void JNICALL on_vm_start(jvmtiEnv*, JNIEnv* jni) { g_counting->vm_started(jni); }
void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) { g_counting->thread_started(jni, thread); }
void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) { g_counting->thread_ended(jni, thread); }
void JNICALL on_class_file_load(jvmtiEnv*, JNIEnv* jni, jclass, jobject loader, const char* name, jobject, jint size,
                                const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  g_counting->class_comes(jni, loader, name, {bytes, static_cast<std::size_t>(size)}, new_size, new_bytes);
}
void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) { g_counting->class_loaded(); }

jlong JNICALL new_tree(JNIEnv* jni, jclass, jobject thread) {
  return static_cast<jlong>(g_counting->new_tree(jni, thread));
}

jboolean JNICALL grow(JNIEnv*, jclass, jlong tree, jint size) {
  return g_counting->grow(static_cast<std::uint64_t>(tree), static_cast<std::uint32_t>(size)) ? JNI_TRUE : JNI_FALSE;
}

jlong JNICALL ask(JNIEnv* jni, jclass, jobject thread, jlong tree, jlong site, jboolean is_new) {
  return g_counting->ask(jni, thread, tree, site, is_new != JNI_FALSE);
}

// HotSpot prints a warning if natives of a java.* class are registered by somebody else, which it tells by the Java
// frame that calls. This class is loaded while the module system starts, by Java code of the JDK.
bool is_called_from_jdk(const char* class_name) {
  return class_name != nullptr && std::strcmp(class_name, "jdk/internal/module/SystemModulesMap") == 0;
}

Error no_fields() {
  return {ErrorCode::kUnsupported, "the fields of java.lang.Thread are missing, perhaps because of another agent"};
}

}  // namespace

std::string_view Counting::name() const {
  if (options_.sampling.is_on()) return "bytecode";
  return options_.flat ? "exact:flat" : "exact";
}

// --- a JVM that starts ---------------------------------------------------------------------------------------------

Result<void> Counting::prepare() {
  TRY(map_nowhere());
  TRY(methods_.map());
  trees_.start();
  jvmti_ = new_environment(vm_);
  g_counting = this;
  instrumenter_ = std::make_unique<ClassInstrumenter>(
      arena_, methods_, options_, read_known_methods(options_.list_folder), options_.flat ? &flat_blocks_ : nullptr);
  instrumenter_->use_cache(options_.class_cache);
  if (options_.sampling.is_on()) {
    TRY(instrumenter_->sites().create());
    sampling_ =
        std::make_unique<BytecodeSampling>(arena_, trees_, options_.sampling, jvmti_, instrumenter_->sites(), stacks_);
  }
  if (options_.has_agent()) {
    user_agent_ = std::make_unique<UserAgent>(arena_, options_, jvmti_, instrumenter_->names(), instrumenter_->sites());
    if (sampling_) sampling_->set_user_agent(*user_agent_);
  }
  if (!enable_events()) return Error{ErrorCode::kUnsupported, "the JVM does not grant class hooks"};
  return {};
}

bool Counting::enable_events() {
  const bool virtual_threads = has_virtual_threads(jvmti_);
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_generate_early_class_hook_events = 1;
  wanted.can_generate_early_vmstart = 1;
  wanted.can_retransform_classes = options_.sampling.traps() ? 1 : 0;
  if (virtual_threads) want_virtual_threads(wanted);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMStart = on_vm_start;
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  callbacks.ClassFileLoadHook = on_class_file_load;
  callbacks.ClassLoad = on_class_load;
  if (jvmti_->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      !set_callbacks(jvmti_, callbacks, on_thread_start, on_thread_end)) {
    return false;
  }
  const auto enable = [&](jvmtiEvent event) { return switch_event(jvmti_, event, JVMTI_ENABLE); };
  const bool thread_starts = options_.flat || sampling_;
  return enable(JVMTI_EVENT_VM_START) && enable(JVMTI_EVENT_THREAD_END) && enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) &&
         enable(JVMTI_EVENT_CLASS_LOAD) && (!virtual_threads || enable(kVirtualThreadEnd)) &&
         (!thread_starts || enable(JVMTI_EVENT_THREAD_START)) &&
         (!thread_starts || !virtual_threads || enable(kVirtualThreadStart));
}

void Counting::vm_started(JNIEnv* jni) {
  runtime_ = define_class(jni, "java/lang/SondeRT", kSondeRTClass);
  tree_runtime_ = define_class(jni, "java/lang/SondeTree", kSondeTreeClass);
  const jclass memory = define_class(jni, "java/lang/SondeRT$Memory", kSondeRTMemoryClass);
  flat_runtime_ = define_class(jni, "java/lang/SondeFlat", kSondeFlatClass);
  if (runtime_ == nullptr || tree_runtime_ == nullptr || memory == nullptr || flat_runtime_ == nullptr) {
    jni->FatalError("sonde: java.lang.SondeRT could not be defined");
  }
  if (sampling_ && !sampling_->define(jni)) jni->FatalError("sonde: java.lang.SondeSampling could not be defined");
  if (options_.heap_tree) {
    heap_node_ = define_class(jni, "java/lang/SondeNode", kSondeNodeClass);
    if (heap_node_ == nullptr) jni->FatalError("sonde: java.lang.SondeNode could not be defined");
  }
  boot_verification_.begin();
}

bool Counting::bind_natives(JNIEnv* jni) {
  const JNINativeMethod of_tree[] = {
      {const_cast<char*>("newTree"), const_cast<char*>("(Ljava/lang/Thread;)J"),
       reinterpret_cast<void*>(agent::new_tree)},
      {const_cast<char*>("grow"), const_cast<char*>("(JI)Z"), reinterpret_cast<void*>(agent::grow)},
  };
  const JNINativeMethod of_runtime[] = {
      {const_cast<char*>("ask"), const_cast<char*>("(Ljava/lang/Thread;JJZ)J"), reinterpret_cast<void*>(agent::ask)},
  };
  natives_bound_ = natives_bound_ || (jni->RegisterNatives(tree_runtime_, of_tree, 2) == JNI_OK &&
                                      jni->RegisterNatives(runtime_, of_runtime, 1) == JNI_OK &&
                                      (!sampling_ || sampling_->bind_natives(jni)));
  return natives_bound_;
}

bool Counting::find_fields(JNIEnv* jni) {
  const jclass threads = jni->FindClass("java/lang/Thread");
  site_field_ = jni->GetFieldID(threads, "$sondeSite", "J");
  tree_field_ = site_field_ == nullptr ? nullptr : jni->GetFieldID(threads, "$sondeTree", "J");
  root_field_ = tree_field_ == nullptr ? nullptr : jni->GetFieldID(threads, "$sondeRoot", "J");
  const bool found = root_field_ != nullptr && (!sampling_ || sampling_->begin(jni));
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  return found;
}

Result<void> Counting::start(JNIEnv* jni) {
  switch_event(jvmti_, JVMTI_EVENT_CLASS_LOAD, JVMTI_DISABLE);
  virtual_thread_ = find_class(jni, "java/lang/BaseVirtualThread");
  platform_loader_ = find_loader(jni, "getPlatformClassLoader");
  if (!find_fields(jni) || !bind_natives(jni)) return no_fields();
  if (!initialise_classes(jni, {"java/lang/SondeRT$Memory", "java/lang/SondeTree", "java/lang/SondeFlat"}) ||
      (sampling_ && !initialise_classes(jni, {"java/lang/SondeSteps"}))) {
    return Error{ErrorCode::kUnsupported, "java.lang.SondeRT cannot be initialised in this JVM"};
  }
  if (options_.flat) {
    if (!open_flat_gate(jni)) return Error{ErrorCode::kUnsupported, "the counters of exact:flat cannot be set up"};
    return {};
  }
  if (user_agent_) user_agent_->start(jni);
  const jfieldID on = jni->GetStaticFieldID(runtime_, "on", "Z");
  const jfieldID methods = jni->GetStaticFieldID(runtime_, "methods", "J");
  jni->SetStaticLongField(runtime_, methods, reinterpret_cast<jlong>(methods_.memory()));
  jni->SetStaticBooleanField(runtime_, on, JNI_TRUE);
  return {};
}

// For threads that exist already and all that come.
bool Counting::open_flat_gate(JNIEnv* jni) {
  const jfieldID region = jni->GetStaticFieldID(flat_runtime_, "region", "J");
  const jfieldID on = jni->GetStaticFieldID(flat_runtime_, "on", "Z");
  if (!for_each_thread(jvmti_, jni, [&](jthread thread) { thread_started(jni, thread); })) return false;
  jni->SetStaticLongField(flat_runtime_, region, reinterpret_cast<jlong>(arena_.flat_region()));
  jni->SetStaticBooleanField(flat_runtime_, on, JNI_TRUE);
  return true;
}

// --- while it runs -------------------------------------------------------------------------------------------------

bool Counting::is_jdk_loader(JNIEnv* jni, jobject loader) const {
  // Before VMInit only the JDK itself loads classes.
  return loader == nullptr || platform_loader_ == nullptr || jni->IsSameObject(loader, platform_loader_) != JNI_FALSE;
}

void Counting::class_comes(JNIEnv* jni, jobject loader, const char* name, Bytes bytes, jint* new_size,
                           unsigned char** new_bytes) {
  if (!natives_bound_ && runtime_ != nullptr && is_called_from_jdk(name)) bind_natives(jni);
  if (user_agent_ && user_agent_->is_loader(jni, loader)) return;
  instrumenter_->rewrite(bytes, is_jdk_loader(jni, loader), [&](Bytes result) {
    unsigned char* copy = nullptr;
    if (jvmti_->Allocate(static_cast<jlong>(result.size()), &copy) != JVMTI_ERROR_NONE) return;
    std::memcpy(copy, result.data(), result.size());
    *new_bytes = copy;
    *new_size = static_cast<jint>(result.size());
    if (runtime_ == nullptr && name != nullptr) boot_verification_.note_changed(name);
  });
}

std::uint64_t Counting::new_tree(JNIEnv* jni, jthread thread) {
  const ThreadFacts facts = facts_of(jvmti_, jni, thread, virtual_thread_);
  return trees_.lease(facts.name, facts.is_virtual);
}

// Modes exact:flat and bytecode. Threads have their counters or stacks before they run anything.
void Counting::thread_started(JNIEnv* jni, jthread thread) {
  if (sampling_) {
    const bool is_virtual = virtual_thread_ != nullptr && jni->IsInstanceOf(thread, virtual_thread_) != JNI_FALSE;
    if (is_virtual) sampling_->use_calls(jni);
    return sampling_->thread_started(jni, thread);
  }
  if (root_field_ == nullptr || jni->GetLongField(thread, root_field_) != 0) return;
  const ThreadFacts facts = facts_of(jvmti_, jni, thread, virtual_thread_);
  const auto block = static_cast<jlong>(flat_blocks_.lease(facts.name, facts.is_virtual));
  jni->SetLongField(thread, root_field_, block);
  jni->SetLongField(thread, site_field_, block);
}

// Context: the thread that ends. No instrumented code runs on it any more.
void Counting::thread_ended(JNIEnv* jni, jthread thread) {
  if (root_field_ == nullptr) return;
  if (options_.flat) {
    const jlong block = jni->GetLongField(thread, root_field_);
    jni->SetLongField(thread, root_field_, 0);
    jni->SetLongField(thread, site_field_, 0);
    return flat_blocks_.release(static_cast<std::uint64_t>(block));
  }
  const jlong tree =
      sampling_ ? static_cast<jlong>(sampling_->tree_of(jni, thread)) : jni->GetLongField(thread, tree_field_);
  if (user_agent_) user_agent_->thread_ended(jni, thread, tree);
  if (sampling_) sampling_->thread_ended(jni, thread, static_cast<std::uint64_t>(tree));
  if (tree == 0) return;
  // Whatever still runs goes to the sink: the tree may have its next user by then.
  jni->SetLongField(thread, site_field_, static_cast<jlong>(kSink + sizeof(arena::Node)));
  jni->SetLongField(thread, tree_field_, 0);
  trees_.release(static_cast<std::uint64_t>(tree));
}

// --- the end -------------------------------------------------------------------------------------------------------

// Scheme `paper`: what the Java heap holds goes to the arena at the end.
void Counting::store_heap_trees(JNIEnv* jni) {
  const jmethodID store = jni->GetStaticMethodID(heap_node_, "store", "()V");
  if (store != nullptr) jni->CallStaticVoidMethod(heap_node_, store);
  if (jni->ExceptionCheck() == JNI_FALSE) return;
  jni->ExceptionClear();
  say("the call trees in the Java heap could not be stored completely");
}

// Service threads of the JDK never end, so its methods are left out: they would be in every recording.
bool Counting::is_counted_application(JNIEnv* jni, std::string_view class_name, jobject loader) const {
  if (user_agent_ && user_agent_->is_loader(jni, loader)) return false;
  return !is_jdk_loader(jni, loader) && instrumenter_->is_selected(class_name, false);
}

void Counting::stop(JNIEnv* jni) {
  if (user_agent_) user_agent_->close();
  if (heap_node_ != nullptr) store_heap_trees(jni);
  const std::uint64_t alive = frames_alive(jvmti_, jni, [&](std::string_view class_name, jobject loader) {
    return is_counted_application(jni, class_name, loader);
  });
  if (alive != 0) arena_.count(Counter::kFramesAlive, alive);
  if (sampling_) sampling_->settle_living(jni);
  // The host takes it from there. It does not look into the folders of followed processes.
  if (!options_.is_followed) instrumenter_->save_cache(options_.folder + "/classes");
}

}  // namespace sonde::agent
