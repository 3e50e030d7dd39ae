// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/attached_counting.h"

#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "agent/jvmti/frames_alive.h"
#include "agent/jvmti/growing_pools.h"
#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

// What stays from one recording to the next. Never destroyed: callbacks may still run while the process exits.
MethodTable g_methods;
MethodNumbers& g_numbers = *new MethodNumbers;
GrowingPools& g_growing = *new GrowingPools;
SiteTable& g_sites = *new SiteTable;
ShadowStacks* g_stacks = nullptr;  // mode bytecode, once it was on

std::shared_mutex g_events;  // held shared while an event is handled; guards what follows
AttachedCounting* g_counting = nullptr;

void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const std::shared_lock lock(g_events);
  if (g_counting != nullptr) g_counting->thread_ended(jni, thread);
}

void JNICALL on_class_file_load(jvmtiEnv*, JNIEnv* jni, jclass, jobject loader, const char*, jobject, jint size,
                                const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  const std::shared_lock lock(g_events);
  if (g_counting == nullptr) return;
  g_counting->class_loaded(jni, loader, {bytes, static_cast<std::size_t>(size)}, new_size, new_bytes);
}

// Returns when no event is being handled any more.
void set_listener(AttachedCounting* counting) {
  const std::unique_lock lock(g_events);
  g_counting = counting;
}

Result<void> map_once() {
  if (!g_methods.is_mapped()) TRY(g_methods.map());
  if (!g_sites.is_created()) TRY(g_sites.create(true));
  return {};
}

}  // namespace

AttachedCounting::AttachedCounting(JavaVM* vm, arena::Writer& arena, Options options)
    : vm_(vm), arena_(arena), options_(std::move(options)), trees_(arena, g_methods, options_), flat_blocks_(arena) {}

AttachedCounting::~AttachedCounting() {
  if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
}

std::string_view AttachedCounting::name() const {
  if (options_.sampling.is_on()) return "bytecode";
  return options_.flat ? "exact:flat" : "exact";
}

// --- start and stop --------------------------------------------------------------------------------------------------

Result<void> AttachedCounting::start(JNIEnv* jni) {
  if (instrumenter_ == nullptr) TRY(set_up(jni));
  set_listener(this);
  runtime_->set_counting(jni, this);
  switch_event(jvmti_, JVMTI_EVENT_THREAD_END, JVMTI_ENABLE);
  if (has_virtual_threads(jvmti_)) switch_event(jvmti_, kVirtualThreadEnd, JVMTI_ENABLE);
  switch_event(jvmti_, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_ENABLE);
  change_classes(jni);
  open_gate(jni);
  return {};
}

Result<void> AttachedCounting::set_up(JNIEnv* jni) {
  TRY(map_once());
  const std::uint64_t bias = TRY(map_nowhere_somewhere());
  runtime_ = TRY(AttachedRuntime::get(jni, bias));
  TRY(ask_for_events());
  virtual_thread_ = find_class(jni, "java/lang/BaseVirtualThread");
  platform_loader_ = find_loader(jni, "getPlatformClassLoader");
  // Methods that run since an earlier recording may count in any slot.
  if (options_.flat && !flat_blocks_.make_room_for(g_numbers.largest()))
    return Error{ErrorCode::kUnsupported, "there is no room for the counters of all methods (numbers up to " +
                                              std::to_string(g_numbers.largest()) + "); use mode exact"};
  if (!options_.flat) trees_.start();
  if (options_.sampling.is_on()) {
    if (g_stacks == nullptr) g_stacks = new ShadowStacks(bias);
    sampling_ = std::make_unique<BytecodeSampling>(arena_, trees_, options_.sampling, jvmti_, g_sites, *g_stacks);
    sampling_->use(runtime_->sampling);
    if (!sampling_->begin_with(jni, runtime_->thread))
      return Error{ErrorCode::kUnsupported, "java.lang.SondeSampling of this JVM is another one"};
  }
  const ClassInstrumenter::Lasting lasting{.numbers = g_numbers, .sites = g_sites};
  instrumenter_ =
      std::make_unique<ClassInstrumenter>(arena_, g_methods, options_, read_known_methods(options_.list_folder),
                                          options_.flat ? &flat_blocks_ : nullptr, &lasting);
  return {};
}

Result<void> AttachedCounting::ask_for_events() {
  jvmti_ = new_environment(vm_);
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_retransform_classes = 1;
  wanted.can_retransform_any_class = 1;
  wanted.can_get_constant_pool = 1;
  if (has_virtual_threads(jvmti_)) want_virtual_threads(wanted);
  jvmtiEventCallbacks callbacks{};
  callbacks.ThreadEnd = on_thread_end;
  callbacks.ClassFileLoadHook = on_class_file_load;
  if (jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE && set_callbacks(jvmti_, callbacks, nullptr, on_thread_end))
    return {};
  return Error{ErrorCode::kUnsupported, "the JVM does not let its classes be changed"};
}

void AttachedCounting::change_classes(JNIEnv* jni) {
  std::uint64_t refused = 0;
  const auto is_changed = [&](jclass cls, std::string_view class_name, jobject loader) {
    if (!is_selected(jni, class_name, loader)) return false;
    if (!g_growing.has(class_name) || has_room_in_pool(jvmti_, cls)) return true;
    ++refused;
    return false;
  };
  refused += retransform_loaded(jvmti_, jni, is_changed, costs_);
  if (refused != 0) arena_.count(Counter::kClassesRefused, refused);
}

// Nobody listens to the hook any more. While it is on, the JVM keeps its copies of class files, and they should not
// stay, either.
void AttachedCounting::restore_classes(JNIEnv* jni) {
  const auto restore = [&](bool is_growing) {
    const auto is_changed = [&](jclass, std::string_view class_name, jobject loader) {
      return is_selected(jni, class_name, loader) && g_growing.has(class_name) == is_growing;
    };
    retransform_loaded(jvmti_, jni, is_changed, costs_);
  };
  restore(true);
  switch_event(jvmti_, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_DISABLE);
  restore(false);
}

void AttachedCounting::open_gate(JNIEnv* jni) {
  AttachedRuntime& runtime = *runtime_;
  // Where threads were when counting stopped the last time, they are no more.
  runtime.for_each_thread(jni, [&](jobject own) {
    if (sampling_) return sampling_->thread_goes_on(jni, own);
    jni->SetLongField(own, runtime.site, jni->GetLongField(own, runtime.root));
  });
  if (options_.flat) {
    runtime.set_long(jni, runtime.flat, "region", reinterpret_cast<std::uint64_t>(arena_.flat_region()));
    return runtime.set_bool(jni, runtime.flat, "on", true);
  }
  const std::uint64_t begin = arena_.address(&arena_.header());
  runtime.set_long(jni, runtime.counting, "methods", reinterpret_cast<std::uint64_t>(g_methods.memory()));
  runtime.set_long(jni, runtime.counting, "arenaBegin", begin);
  runtime.set_long(jni, runtime.counting, "arenaEnd", begin + arena_.header().capacity);
  runtime.set_bool(jni, runtime.counting, "on", true);
}

void AttachedCounting::shut_gate(JNIEnv* jni) {
  runtime_->set_bool(jni, options_.flat ? runtime_->flat : runtime_->counting, "on", false);
}

void AttachedCounting::stop(JNIEnv* jni) {
  vm_ends(jni);
  switch_event(jvmti_, JVMTI_EVENT_THREAD_END, JVMTI_DISABLE);
  if (has_virtual_threads(jvmti_)) switch_event(jvmti_, kVirtualThreadEnd, JVMTI_DISABLE);
  set_listener(nullptr);
  restore_classes(jni);
  runtime_->set_counting(jni, nullptr);
}

void AttachedCounting::vm_ends(JNIEnv* jni) {
  const std::uint64_t alive = frames_alive(jvmti_, jni, [&](std::string_view class_name, jobject loader) {
    return !is_jdk_loader(jni, loader) && is_selected(jni, class_name, loader);
  });
  if (alive != 0) arena_.count(Counter::kFramesAlive, alive);
  shut_gate(jni);
  if (sampling_) runtime_->for_each_thread(jni, [&](jobject own) { sampling_->settle(jni, own); });
}

void AttachedCounting::retire(JNIEnv* jni) {
  if (instrumenter_ == nullptr) return;
  if (sampling_) {
    runtime_->for_each_thread(jni, [&](jobject own) { sampling_->thread_ended(jni, own, 0); });
    g_stacks->trim();
    g_sites.forget_names();
  }
  runtime_->clear_threads(jni);
  g_methods.forget(g_numbers.largest());
  if (virtual_thread_ != nullptr) jni->DeleteGlobalRef(virtual_thread_);
  if (platform_loader_ != nullptr) jni->DeleteGlobalRef(platform_loader_);
  arena_.leave_memory();
}

// --- while it counts -------------------------------------------------------------------------------------------------

bool AttachedCounting::is_jdk_loader(JNIEnv* jni, jobject loader) const {
  return loader == nullptr || jni->IsSameObject(loader, platform_loader_) != JNI_FALSE;
}

bool AttachedCounting::is_selected(JNIEnv* jni, std::string_view class_name, jobject loader) const {
  return instrumenter_->is_selected(class_name, is_jdk_loader(jni, loader));
}

void AttachedCounting::class_loaded(JNIEnv* jni, jobject loader, Bytes bytes, jint* new_size,
                                    unsigned char** new_bytes) {
  instrumenter_->rewrite(bytes, is_jdk_loader(jni, loader), [&](Bytes result) {
    g_growing.note(instrumenter_->current());
    unsigned char* copy = nullptr;
    if (jvmti_->Allocate(static_cast<jlong>(result.size()), &copy) != JVMTI_ERROR_NONE) return;
    std::memcpy(copy, result.data(), result.size());
    *new_bytes = copy;
    *new_size = static_cast<jint>(result.size());
  });
}

ThreadFacts AttachedCounting::current_thread(JNIEnv* jni) const {
  jthread thread = nullptr;
  if (jvmti_->GetCurrentThread(&thread) != JVMTI_ERROR_NONE) return {};
  ThreadFacts facts = facts_of(jvmti_, jni, thread, virtual_thread_);
  jni->DeleteLocalRef(thread);
  return facts;
}

// The thread has its counters or its memory for samples before it counts.
void AttachedCounting::thread_enlisted(JNIEnv* jni, jobject own, jlong number) {
  if (sampling_) {
    jni->SetLongField(own, runtime_->path, number);
    return sampling_->thread_started(jni, own);
  }
  if (!options_.flat) return;
  const ThreadFacts facts = current_thread(jni);
  const auto block = static_cast<jlong>(flat_blocks_.lease(facts.name, facts.is_virtual));
  jni->SetLongField(own, runtime_->root, block);
  jni->SetLongField(own, runtime_->site, block);
}

std::uint64_t AttachedCounting::new_tree(JNIEnv* jni) {
  const ThreadFacts facts = current_thread(jni);
  return trees_.lease(facts.name, facts.is_virtual);
}

// Context: the thread that ends. Whatever it still does goes to the sink; that its tree has the next user by then is
// nothing to it. Its object stays in the table for a while: without it, the thread would be a new one.
void AttachedCounting::thread_ended(JNIEnv* jni, jthread thread) {
  constexpr std::size_t kKept = 256;
  const jlong number = runtime_->number_of(jni, thread);
  const jobject own = runtime_->find(jni, number);
  if (own == nullptr) return;
  const auto root = static_cast<std::uint64_t>(jni->GetLongField(own, runtime_->root));
  const auto tree = static_cast<std::uint64_t>(jni->GetLongField(own, runtime_->tree));
  if (sampling_) sampling_->thread_ended(jni, own, tree);
  jni->SetLongField(own, runtime_->site, options_.flat ? 0 : static_cast<jlong>(kSink + sizeof(arena::Node)));
  jni->SetLongField(own, runtime_->root, 0);
  jni->SetLongField(own, runtime_->tree, 0);
  if (options_.flat) flat_blocks_.release(root);
  if (tree != 0) trees_.release(tree);
  const std::lock_guard lock(ended_mutex_);
  ended_.push_back(number);
  if (ended_.size() <= kKept) return;
  runtime_->remove(jni, ended_.front());
  ended_.pop_front();
}

}  // namespace sonde::agent
