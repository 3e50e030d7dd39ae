// SPDX-License-Identifier: Apache-2.0
#include "agent/session/shadow_stacks.h"

#include <sys/mman.h>

#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kRegionsAtOnce = 64;
static_assert(kBias % ShadowStacks::kRegion == 0 && kBiasStep % ShadowStacks::kRegion == 0,
              "a region is aligned whether or not addresses are biased");

}  // namespace

std::uint64_t ShadowStacks::lease() {
  const std::lock_guard lock(mutex_);
  if (free_.empty() && !add_regions()) return 0;
  const std::uint64_t region = free_.back();
  free_.pop_back();
  auto& use = *reinterpret_cast<RegionUse*>(region + bias_ + RegionUse::kAt);
  use.user = ++users_;  // what other threads cached belongs to their own call trees
  use.writer = 0;
  *reinterpret_cast<TrapState*>(region + bias_ + TrapState::kAt) = {};
  use.far_counters = lease_far();
  use.unused_bits = 32 - (leased_ < kLargeCaches ? kLargeBits : kSmallBits);
  ++leased_;
  return region;
}

std::uint64_t ShadowStacks::lease_far() {
  if (free_far_.empty()) {
    if (far_ == kFarCaches) return 0;
    void* memory = mmap(nullptr, kFarSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 0;
    free_far_.push_back(reinterpret_cast<std::uint64_t>(memory));
    ++far_;
  }
  const std::uint64_t far = free_far_.back();
  free_far_.pop_back();
  return far;
}

void ShadowStacks::release(std::uint64_t slot) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t region = slot & ~(kRegion - 1);
  auto& use = *reinterpret_cast<RegionUse*>(region + bias_ + RegionUse::kAt);
  if (use.far_counters != 0) free_far_.push_back(use.far_counters);
  use.far_counters = 0;
  free_.push_back(region);
  --leased_;
}

void ShadowStacks::trim() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t region : free_) {
    void* memory = reinterpret_cast<void*>(region + bias_);  // NOLINT(performance-no-int-to-ptr)
    madvise(memory, kRegion, MADV_DONTNEED);
  }
  for (const std::uint64_t far : free_far_) {
    madvise(reinterpret_cast<void*>(far), kFarSize, MADV_DONTNEED);  // NOLINT(performance-no-int-to-ptr)
  }
}

bool ShadowStacks::add_regions() {
  constexpr std::uint64_t kSize = (kRegionsAtOnce + 1) * kRegion;
  void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const std::uint64_t first = (reinterpret_cast<std::uint64_t>(memory) + kRegion - 1) & ~(kRegion - 1);
  for (std::uint64_t i = kRegionsAtOnce; i-- > 0;) free_.push_back(first + i * kRegion - bias_);
  return true;
}

}  // namespace sonde::agent
