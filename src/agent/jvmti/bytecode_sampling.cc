// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/bytecode_sampling.h"

#include "agent/jvmti/jvm.h"
#include "agent/jvmti/runtime_classes.h"
#include "agent/session/drawn_intervals.h"
#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr jlong kForever = INT64_MAX / 2;  // SondeSampling.FOREVER

constexpr std::uint32_t kMostFrames = 16'000;  // there are not many more slots

constexpr jint kSamplesByTraps = 1;  // SondeSampling.TRAPS
constexpr jint kSamplesByCalls = 2;  // SondeSampling.CALLS

constexpr std::uint32_t kMark = 1U << 31U;  // SondeSampling.MARK

BytecodeSampling* g_sampling = nullptr;  // for find_callers_of, which the JVM calls without saying for whom

jlong JNICALL find_callers_of(JNIEnv* jni, jclass, jlong region) { return g_sampling->find_callers(jni, region); }

jlong JNICALL register_thread_of(JNIEnv* jni, jclass, jobject thread) {
  return g_sampling->register_thread(jni, thread);
}

jlong JNICALL ask_for(JNIEnv* jni, jclass, jobject thread, jlong slots, jint depth, jint first, jlong bytecodes) {
  const auto* callers = reinterpret_cast<const std::uint32_t*>(slots);  // NOLINT(performance-no-int-to-ptr)
  return g_sampling->ask(jni, thread, {callers, static_cast<std::size_t>(depth)}, first, bytecodes);
}

void JNICALL end_traps_of(JNIEnv*, jclass, jlong region) { g_sampling->end_traps(static_cast<std::uint64_t>(region)); }

}  // namespace

bool BytecodeSampling::define(JNIEnv* jni) {
  g_sampling = this;
  runtime_ = define_class(jni, "java/lang/SondeSampling", kSondeSamplingClass);
  return runtime_ != nullptr && define_class(jni, "java/lang/SondeSteps", kSondeStepsClass) != nullptr;
}

bool BytecodeSampling::bind_natives(JNIEnv* jni) {
  const JNINativeMethod natives[] = {
      {const_cast<char*>("findCallers"), const_cast<char*>("(J)J"), reinterpret_cast<void*>(find_callers_of)},
      {const_cast<char*>("register"), const_cast<char*>("(Ljava/lang/Thread;)J"),
       reinterpret_cast<void*>(register_thread_of)},
      {const_cast<char*>("ask"), const_cast<char*>("(Ljava/lang/Thread;JIIJ)J"), reinterpret_cast<void*>(ask_for)},
      {const_cast<char*>("endTraps"), const_cast<char*>("(J)V"), reinterpret_cast<void*>(end_traps_of)}};
  return jni->RegisterNatives(runtime_, natives, 4) == JNI_OK;
}

jlong BytecodeSampling::ask(JNIEnv* jni, jobject thread, std::span<const std::uint32_t> callers, jint first,
                            jlong bytecodes) {
  std::vector<std::uint32_t> sites;
  sites.reserve(callers.size() + 1);
  for (const std::uint32_t site : callers) sites.push_back(site & ~kMark);
  sites.push_back(static_cast<std::uint32_t>(first));
  return user_agent_->sample(jni, thread, sites, bytecodes);
}

jlong BytecodeSampling::find_callers(JNIEnv* jni, jlong region) {
  return static_cast<jlong>(stack_slots_.find_callers(jni, static_cast<std::uint64_t>(region)));
}

bool BytecodeSampling::begin(JNIEnv* jni) {
  if (!begin_with(jni, jni->FindClass("java/lang/Thread"))) return false;
  for_each_thread(jni, [&](jthread thread) { thread_started(jni, thread); });
  return true;
}

bool BytecodeSampling::begin_with(JNIEnv* jni, jclass threads) {
  const auto field = [&](const char* name) {
    return jni->ExceptionCheck() != JNI_FALSE ? nullptr : jni->GetFieldID(threads, name, "J");
  };
  site_field_ = field("$sondeSite");
  tree_field_ = field("$sondeTree");
  left_field_ = field("$sondeLeft");
  quota_field_ = field("$sondeQuota");
  path_field_ = field("$sondePath");
  region_field_ = field("$sondeRegion");
  if (region_field_ == nullptr) return false;
  const auto set = [&](const char* name, std::uint64_t value) {
    jni->SetStaticLongField(runtime_, jni->GetStaticFieldID(runtime_, name, "J"), static_cast<jlong>(value));
  };
  set("granularity", options_.granularity * options_.scale());
  set("jitter", options_.jitter * options_.scale());
  set("mean", static_cast<std::uint64_t>(intervals_of(options_).mean()));
  set("seed", options_.seed);
  set("siteTable", arena_.address(sites_.address()));
  const std::uint32_t most = options_.max_path == 0 ? kMostFrames : options_.max_path;
  jni->SetStaticIntField(runtime_, jni->GetStaticFieldID(runtime_, "maxPath", "I"), static_cast<jint>(most));
  const auto set_flag = [&](const char* name, bool value) {
    jni->SetStaticBooleanField(runtime_, jni->GetStaticFieldID(runtime_, name, "Z"), value ? JNI_TRUE : JNI_FALSE);
  };
  set_flag("asksJvm", options_.asks_jvm());
  set_flag("hashes", options_.hashes());
  set_flag("asksAgent", user_agent_ != nullptr);
  if (options_.asks_jvm()) stack_slots_.begin(jni, most);
  if (options_.traps()) begin_traps(jni);
  begun_ = true;
  return true;
}

// Without them samples are calls.
void BytecodeSampling::begin_traps(JNIEnv* jni) {
  auto traps = std::make_unique<SampleTraps>(arena_, trees_, sites_, stack_slots_, options_,
                                             [this](JNIEnv* env) { use_calls(env); });
  const Result<void> begun = traps->begin(jni);
  const jfieldID samples_by = jni->GetStaticFieldID(runtime_, "samplesBy", "I");
  jni->SetStaticIntField(runtime_, samples_by, begun.ok() ? kSamplesByTraps : kSamplesByCalls);
  if (!begun.ok()) return say(begun.error().message + ": samples by bytecodes cost more than they would without calls");
  traps_ = std::move(traps);
  jni->SetStaticLongField(runtime_, jni->GetStaticFieldID(runtime_, "trapMean", "J"), intervals_of(options_).mean());
}

void BytecodeSampling::use_calls(JNIEnv* jni) {
  if (!traps_) return;
  std::call_once(calls_, [&] {
    const jfieldID samples_by = jni->GetStaticFieldID(runtime_, "samplesBy", "I");
    const jfieldID takes_over = jni->GetStaticFieldID(runtime_, "takesOver", "Z");
    jni->SetStaticBooleanField(runtime_, takes_over, JNI_TRUE);
    jni->SetStaticIntField(runtime_, samples_by, kSamplesByCalls);
    uses_calls_ = jvmti_->RetransformClasses(1, &runtime_) == JVMTI_ERROR_NONE;
    if (uses_calls_) return arena_.count(Counter::kSamplesByCalls, 1);
    // Then virtual threads have traps, and those of their samples whose callers are in the heap are counted as lost.
    jni->SetStaticIntField(runtime_, samples_by, kSamplesByTraps);
    jni->SetStaticBooleanField(runtime_, takes_over, JNI_FALSE);
  });
}

template <typename Visit>
void BytecodeSampling::for_each_thread(JNIEnv* jni, Visit&& visit) {
  jint count = 0;
  jthread* threads = nullptr;
  if (jvmti_->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    visit(threads[i]);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(threads));
}

void BytecodeSampling::thread_started(JNIEnv* jni, jobject thread) {
  if (!begun_ || jni->GetLongField(thread, site_field_) != 0) return;
  const auto region = static_cast<jlong>(stacks_.lease());
  if (region == 0) {
    arena_.count(Counter::kThreadsWithoutTree);
    return jni->SetLongField(thread, left_field_, kForever);
  }
  if (traps_ && !uses_calls_) {
    const auto path = static_cast<std::uint64_t>(jni->GetLongField(thread, path_field_));
    traps_->thread_started(static_cast<std::uint64_t>(region), path, facts_of(jvmti_, jni, thread, nullptr).name);
  }
  jni->SetLongField(thread, region_field_, region);
  jni->SetLongField(thread, site_field_, region);
}

TrapState* BytecodeSampling::trap_state_of(JNIEnv* jni, jobject thread) const {
  const auto region = static_cast<std::uint64_t>(traps_ ? jni->GetLongField(thread, region_field_) : 0);
  if (region == 0) return nullptr;
  TrapState& state = SampleTraps::state_of(region);
  return state.random != 0 ? &state : nullptr;
}

void BytecodeSampling::thread_goes_on(JNIEnv* jni, jobject thread) {
  const jlong region = jni->GetLongField(thread, region_field_);
  if (region != 0) jni->SetLongField(thread, site_field_, region);
}

bool BytecodeSampling::add_rest(JNIEnv* jni, jobject thread, std::uint64_t tree, std::uint64_t arena::Node::*sum) {
  const TrapState* state = trap_state_of(jni, thread);
  const jlong quota = state != nullptr ? DrawnIntervals::quota_of(*state) : jni->GetLongField(thread, quota_field_);
  const jlong rest = quota - jni->GetLongField(thread, left_field_);
  arena::Node* root = rest <= 0 ? nullptr : root_of_thread(tree);
  if (root == nullptr) return false;
  __atomic_fetch_add(&(root->*sum), static_cast<std::uint64_t>(rest), __ATOMIC_RELAXED);
  return true;
}

void BytecodeSampling::thread_ended(JNIEnv* jni, jobject thread, std::uint64_t tree) {
  if (!begun_) return;
  add_rest(jni, thread, tree, &arena::Node::bytecodes);
  const auto region = static_cast<std::uint64_t>(jni->GetLongField(thread, region_field_));
  jni->SetLongField(thread, left_field_, kForever);
  jni->SetLongField(thread, site_field_, static_cast<jlong>(kSink + sizeof(arena::Node)));
  jni->SetLongField(thread, region_field_, 0);
  if (traps_) traps_->thread_ended(region);
  if (region != 0) stacks_.release(region);
}

void BytecodeSampling::settle_living(JNIEnv* jni) {
  if (!begun_) return;
  if (traps_) traps_->settle_living();
  // The threads go on and may settle by themselves, so this is kept apart.
  for_each_thread(jni, [&](jthread thread) { add_rest(jni, thread, tree_of(jni, thread), &arena::Node::calls); });
}

void BytecodeSampling::settle(JNIEnv* jni, jobject thread) {
  if (!add_rest(jni, thread, tree_of(jni, thread), &arena::Node::bytecodes)) return;
  jni->SetLongField(thread, quota_field_, jni->GetLongField(thread, left_field_));
}

std::uint64_t BytecodeSampling::tree_of(JNIEnv* jni, jobject thread) const {
  const TrapState* state = trap_state_of(jni, thread);
  return state != nullptr ? state->tree : static_cast<std::uint64_t>(jni->GetLongField(thread, tree_field_));
}

arena::Node* BytecodeSampling::root_of_thread(std::uint64_t tree) {
  if (tree == 0) {
    const std::lock_guard lock(mutex_);
    if (common_tree_ == 0) common_tree_ = trees_.lease("(threads without a sample)", false);
    tree = common_tree_;
  }
  if (tree == 0) return nullptr;
  const auto* header = static_cast<const arena::TreeHeader*>(arena_.pointer(tree));
  return static_cast<arena::Node*>(arena_.pointer(header->root));
}

}  // namespace sonde::agent
