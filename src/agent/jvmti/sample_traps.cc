// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/sample_traps.h"

#include <vector>

#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr std::int64_t kForever = INT64_MAX / 2;                              // SondeRT.FOREVER
constexpr std::uint64_t kTraps = (1ULL << (47U - TrapState::kShift)) + 4096;  // of all addresses that there are

SampleTraps* g_traps = nullptr;  // for whoever stores, which does not say for whom

}  // namespace

SampleTraps::SampleTraps(arena::Writer& arena, TreePool& trees, const SiteTable& sites, StackSlots& stack,
                         const SamplingOptions& options)
    : arena_(arena),
      trees_(trees),
      sites_(sites),
      stack_(stack),
      intervals_{.granularity = options.granularity * options.scale(),
                 .jitter = options.jitter * options.scale(),
                 .seed = options.seed} {}

Result<std::uint64_t> SampleTraps::begin(JNIEnv* jni) {
  // The store is no place where the JVM can stop, and yet it has to be described.
  if (!stack_.reads_stacks() || !debug_info_.begin(hotspot::VmStructs::load())) {
    return Error{ErrorCode::kUnsupported, "the stacks of this JVM cannot be read"};
  }
  jni->GetJavaVM(&vm_);
  g_traps = this;
  traps_ = TRY(trap_stores(kTraps, [](const TrappedStore& store) { g_traps->take(store); }));
  return traps_;
}

TrapState& SampleTraps::state_of(std::uint64_t region) {
  return *reinterpret_cast<TrapState*>(region + kBias + TrapState::kAt);  // NOLINT(performance-no-int-to-ptr)
}

void SampleTraps::thread_started(std::uint64_t region, std::uint64_t path, std::string name) {
  state_of(region).path = path;
  const std::lock_guard lock(mutex_);
  threads_[region] = {.name = std::move(name), .tree = nullptr};
}

void SampleTraps::thread_ended(std::uint64_t region) {
  const std::lock_guard lock(mutex_);
  threads_.erase(region);
}

// As SondeSampling.sample.
void SampleTraps::take(const TrappedStore& store) {
  const std::uint64_t region = (store.address - traps_) / 8 * 8 << TrapState::kShift;
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
  const std::int64_t spent = state.quota - left;
  std::uint64_t samples = 0;
  for (; left <= 0; ++samples) left += countdown.next();
  state.left = left;
  if (samples == 0) return;
  state.quota = left;
  SampledTree* tree = tree_of(region, state);
  if (tree == nullptr) {
    state.left = kForever;
    return;
  }
  tree->add_executed(static_cast<std::uint64_t>(spent));
  JNIEnv* jni = nullptr;
  vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6);
  static thread_local std::vector<std::uint32_t> callers;
  std::uint64_t hash = 0;
  if (!stack_.find_callers_at(jni, store, region, callers, hash)) {
    arena_.count(Counter::kSamplesWithoutCallers, samples);
  }
  tree->samples_of(callers, state.first, hash) += samples;
}

SampledTree* SampleTraps::tree_of(std::uint64_t region, TrapState& state) {
  const std::lock_guard lock(mutex_);
  Thread& thread = threads_[region];
  if (thread.tree) return thread.tree.get();
  state.tree = trees_.lease(thread.name, false);
  if (state.tree == 0) return nullptr;
  auto& header = *static_cast<arena::TreeHeader*>(arena_.pointer(state.tree));
  thread.tree = std::make_unique<SampledTree>(
      arena_, header, sites_, [this, tree = state.tree](std::uint32_t size) { return trees_.grow(tree, size); });
  return thread.tree.get();
}

}  // namespace sonde::agent
