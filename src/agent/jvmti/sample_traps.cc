// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/sample_traps.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <span>
#include <vector>

#include "agent/session/drawn_intervals.h"
#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr std::int64_t kForever = INT64_MAX / 2;  // SondeRT.FOREVER

// The trap of a region is that of its number: a region has 2 MiB, a trap 8 bytes.
constexpr std::uint32_t kTrapShift = 18;
constexpr std::uint64_t kTraps = (1ULL << (47U - kTrapShift)) + 4096;  // of all addresses that there are

constexpr std::uint64_t kTableAt = 0x100000;    // SondeSteps.COUNTERS
constexpr std::uint32_t kMostDisplaced = 4096;  // contexts before a thread gets a larger table

// A signal takes as long as some hundred samples that the probes count, and every program has many contexts that are
// new when it starts.
constexpr std::int64_t kSignalsPerRefill = DrawnIntervals::kCount / 128;
constexpr std::int64_t kMostSignals = 49'152;  // more than those

constexpr std::uint64_t kPerSet = 64;  // bytes, in place of the sets of SondeSteps

SampleTraps* g_traps = nullptr;  // for whoever stores, which does not say for whom

const RegionUse& use_of(std::uint64_t region) {
  return *reinterpret_cast<const RegionUse*>(region + kBias + RegionUse::kAt);  // NOLINT(performance-no-int-to-ptr)
}

// An empty one.
void give_table(TrapState& state, std::uint64_t address, std::uint64_t size) {
  void* memory = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  madvise(memory, size, MADV_DONTNEED);             // what the thread before has left
  state.table = static_cast<KnownContext*>(memory);
  state.table_mask = size - sizeof(KnownContext);
}

KnownContext& place_of(const TrapState& state, std::uint64_t hash) {
  return state.table[((hash >> 32U) & state.table_mask) / sizeof(KnownContext)];
}

bool is_on(const hotspot::VmStructs& structs, const char* name) {
  const hotspot::VmStructs::Flag flag = structs.flag(name);
  return flag.value != nullptr && *static_cast<const bool*>(flag.value);
}

std::int64_t seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec;
}

}  // namespace

SampleTraps::SampleTraps(arena::Writer& arena, TreePool& trees, const SiteTable& sites, StackSlots& stack,
                         const SamplingOptions& options, std::function<void(JNIEnv*)> use_calls)
    : arena_(arena),
      trees_(trees),
      sites_(sites),
      stack_(stack),
      intervals_(intervals_of(options)),
      hashes_(options.hashes()),
      use_calls_(std::move(use_calls)) {}

Result<void> SampleTraps::begin(JNIEnv* jni) {
  const hotspot::VmStructs structs = hotspot::VmStructs::load();
  // One would speak of our handler, the other call it only for faults that the JVM does not know what to do with.
  if (is_on(structs, "CheckJNICalls") || dlsym(RTLD_DEFAULT, "JVM_begin_signal_setting") != nullptr) {
    return Error{ErrorCode::kUnsupported, "somebody watches the signal handlers of this JVM"};
  }
  // The store is no place where the JVM can stop, and yet it has to be described.
  if (!stack_.reads_stacks() || is_on(structs, "UseJVMCICompiler") || !debug_info_.begin(structs) ||
      !is_on(structs, "DebugNonSafepoints")) {
    return Error{ErrorCode::kUnsupported, "the stacks of this JVM cannot be read everywhere"};
  }
  jni->GetJavaVM(&vm_);
  g_traps = this;
  traps_ = TRY(trap_stores(kTraps, [](const TrappedStore& store) {
    g_traps->take(store, (store.address - g_traps->traps_) / 8 * 8 << kTrapShift);
  }));
  // Threads without a region are in the memory of nowhere (nowhere.h): every sample of theirs is a trap.
  begin_state(0);
  give_table(state_of(0), kBias + kTableAt, sizeof(KnownContext));
  return {};
}

TrapState& SampleTraps::state_of(std::uint64_t region) {
  return *reinterpret_cast<TrapState*>(region + kBias + TrapState::kAt);  // NOLINT(performance-no-int-to-ptr)
}

void SampleTraps::begin_state(std::uint64_t region) {
  TrapState& state = state_of(region);
  state.trap = traps_ + (region >> kTrapShift);
  DrawnIntervals(region + kBias, state).begin();
}

void SampleTraps::thread_started(std::uint64_t region, std::uint64_t path, std::string name) {
  TrapState& state = state_of(region);
  state.path = path;
  begin_state(region);
  if (hashes_) give_table(state, region + kBias + kTableAt, kPerSet << (32 - use_of(region).unused_bits));
  const std::lock_guard lock(mutex_);
  threads_[region] = {.name = std::move(name), .tree = nullptr};
}

void SampleTraps::thread_ended(std::uint64_t region) {
  const std::lock_guard lock(mutex_);
  const auto thread = threads_.find(region);
  if (thread == threads_.end()) return;
  if (thread->second.tree) write_table(state_of(region));
  threads_.erase(thread);
}

void SampleTraps::end_traps(std::uint64_t region) {
  TrapState& state = state_of(region);
  SampleCountdown countdown(intervals_, state.random);
  DrawnIntervals(region + kBias, state).end(countdown);
  thread_ended(region);
}

// They go on, and what they count from now on is lost.
void SampleTraps::settle_living() {
  const std::lock_guard lock(mutex_);
  for (const auto& [region, thread] : threads_) {
    if (thread.tree) write_table(state_of(region));
  }
  is_settled_ = true;
}

// Context: mutex_ is held.
void SampleTraps::write_table(TrapState& state) {
  if (!hashes_ || is_settled_) return;
  const std::uint64_t count = state.table_mask / sizeof(KnownContext) + 1;
  for (KnownContext& known : std::span(state.table, count)) {
    if (known.samples == 0 || known.counter == nullptr) continue;
    *known.counter += known.samples;
    known.samples = 0;
  }
}

// As SondeSampling.sample.
void SampleTraps::take(const TrappedStore& store, std::uint64_t region) {
  TrapState& state = state_of(region);
  if (region == 0) {  // of threads without memory
    state.left = kForever;
    return;
  }
  SampleCountdown countdown(intervals_, state.random);
  std::int64_t left = state.left;
  if (state.random == 0) {
    state.quota = countdown.begin(state.path);
    left += state.quota;
  }
  DrawnIntervals drawn(region + kBias, state);
  const bool is_refill = hashes_ && drawn.is_empty();
  const std::int64_t spent = DrawnIntervals::quota_of(state) - left;
  std::uint64_t samples = 0;
  if (left <= 0) samples = countdown.sample(left, hashes_ ? drawn.take(countdown) : countdown.next());
  state.left = left;
  if (samples == 0) return;
  drawn.settle(left);
  Thread* thread = thread_of(region, state);
  if (thread == nullptr) {
    state.left = kForever;
    return;
  }
  if (is_refill) allow_signals();
  thread->tree->add_executed(static_cast<std::uint64_t>(spent));
  samples_of(store, region, *thread, samples) += samples;
}

std::uint64_t& SampleTraps::samples_of(const TrappedStore& store, std::uint64_t region, Thread& thread,
                                       std::uint64_t count) {
  if (!hashes_) return samples_at(store, region, thread, count);
  TrapState& state = state_of(region);
  std::uint64_t* const known = thread.tree->find_known(state.hash);
  const bool is_missing = place_of(state, state.hash).hash != state.hash;
  if (is_missing) count_signal();
  if (known != nullptr) {
    if (is_missing) ++thread.displaced;
    remember(region, thread, *known);
    return *known;
  }
  std::uint64_t& samples = samples_at(store, region, thread, count);
  const bool is_read = thread.tree->find_known(state.hash) != nullptr;  // else the next one may be
  if (is_read) remember(region, thread, samples);
  return samples;
}

std::uint64_t& SampleTraps::samples_at(const TrappedStore& store, std::uint64_t region, Thread& thread,
                                       std::uint64_t count) {
  const TrapState& state = state_of(region);
  JNIEnv* jni = nullptr;
  vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6);
  static thread_local std::vector<std::uint32_t> callers;
  std::uint64_t path = 0;
  if (!stack_.find_callers_at(jni, store, region, callers, path)) {
    arena_.count(Counter::kSamplesWithoutCallers, count);
    return thread.tree->at({}, state.first);  // the next one may have its callers
  }
  const std::uint64_t name = hashes_ ? state.hash : (path + state.first) * 0x9e3779b97f4a7c15;
  std::uint64_t* known = hashes_ ? nullptr : thread.tree->find_known(name);
  return known != nullptr ? *known : thread.tree->add(name, callers, state.first);
}

void SampleTraps::remember(std::uint64_t region, Thread& thread, std::uint64_t& counter) {
  TrapState& state = state_of(region);
  const std::uint64_t far = use_of(region).far_counters;
  const std::int64_t now = seconds_now();
  if (thread.displaced >= kMostDisplaced && far != 0 && state.table != reinterpret_cast<KnownContext*>(far)) {
    const std::lock_guard lock(mutex_);
    write_table(state);
    give_table(state, far, ShadowStacks::kFarSize);
    thread.tree->for_each_known([&](std::uint64_t hash, std::uint64_t* its_counter) {
      place_of(state, hash) = {.hash = hash, .samples = 0, .counter = its_counter, .reserved = 0};
    });
  } else if (now != thread.written_at) {
    const std::lock_guard lock(mutex_);
    write_table(state);
  }
  thread.written_at = now;
  KnownContext& place = place_of(state, state.hash);
  if (place.hash == state.hash) return;
  if (place.counter != nullptr && !is_settled_) *place.counter += place.samples;
  place = {.hash = state.hash, .samples = 0, .counter = &counter, .reserved = 0};
}

void SampleTraps::allow_signals() {
  if (signals_.load() > 0) signals_.fetch_sub(kSignalsPerRefill);
}

void SampleTraps::count_signal() {
  if (signals_.fetch_add(1) >= kMostSignals && !has_given_up_.exchange(true)) give_up();
}

// Whoever stores cannot wait for the JVM.
void SampleTraps::give_up() {
  const auto run = [](void* self) -> void* {
    auto& traps = *static_cast<SampleTraps*>(self);
    JNIEnv* jni = nullptr;
    char name[] = "Sonde";
    JavaVMAttachArgs who = {.version = JNI_VERSION_1_6, .name = name, .group = nullptr};
    if (traps.vm_->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni), &who) != JNI_OK) return nullptr;
    traps.use_calls_(jni);
    traps.vm_->DetachCurrentThread();
    return nullptr;
  };
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, run, this) == 0) pthread_detach(thread);
}

SampleTraps::Thread* SampleTraps::thread_of(std::uint64_t region, TrapState& state) {
  const std::lock_guard lock(mutex_);
  Thread& thread = threads_[region];
  if (thread.tree) return &thread;
  state.tree = trees_.lease(thread.name, false);
  if (state.tree == 0) return nullptr;
  auto& header = *static_cast<arena::TreeHeader*>(arena_.pointer(state.tree));
  thread.tree = std::make_unique<SampledTree>(
      arena_, header, sites_, [this, tree = state.tree](std::uint32_t size) { return trees_.grow(tree, size); });
  return &thread;
}

}  // namespace sonde::agent
