// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that starts or ends. Memory for the shadow stacks of threads that are sampled,
// as SondeSteps lays it out: a region each, given to the next thread when one has ended. It stays mapped for good: a
// thread may be about to write when sampling stops.
//
// Most of a region are caches of contexts and of steps in the call tree, of which a busy thread touches every page. So
// where many threads are alive, all but the first ones have a sixteenth of it. The very first ones have room for half a
// million contexts besides: to find out where a thread is takes far longer than to look into memory that is far away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sonde::agent {

// What is in each region behind the frames, as in SondeSteps.
struct RegionUse {
  static constexpr std::uint64_t kAt = 0x50000;
  std::uint32_t user;
  std::uint32_t unused_bits;  // of the upper half of a hash
  // If it is not the methods themselves that write the slots:
  std::uint32_t depth;   // how many there are
  std::uint64_t writer;  // who wrote them last
  std::uint64_t far_counters;
};
static_assert(sizeof(RegionUse) == 32);

// A context that its probes find by themselves, by its hash (SondeSampling.sampleByHash).
struct KnownContext {
  std::uint64_t hash;
  std::uint64_t samples;   // that are not in the call tree yet
  std::uint64_t* counter;  // there
  std::uint64_t reserved;
};

// Behind it: a thread that is sampled by traps (agent/jvmti/sample_traps.h), and what its probes leave there.
struct TrapState {
  static constexpr std::uint64_t kAt = RegionUse::kAt + sizeof(RegionUse);
  std::int64_t left;  // the countdown; when the store returns, what it goes on with
  std::uint32_t first;
  std::uint32_t reserved;
  std::int64_t quota;
  std::uint64_t random;  // 0: there was no sample yet, or SondeSampling has taken over
  std::uint64_t tree;    // 0: none yet
  std::uint64_t path;    // Thread.$sondePath
  std::uint64_t trap;    // where to store
  // If contexts are known by their hash:
  std::uint64_t hash;        // of the one that is sampled
  KnownContext* table;       // of contexts that are known, by bits of their hash from the 32nd on
  std::uint64_t table_mask;  // of offsets into it
  std::int64_t* drawn;       // the next interval of those that are drawn ahead, 0 behind the last
  std::int64_t* settled;     // up to here they are in `quota`
};
static_assert(TrapState::kAt + offsetof(TrapState, quota) == 0x50030, "SondeSteps.TRAP_QUOTA");
static_assert(TrapState::kAt + offsetof(TrapState, trap) == 0x50050, "SondeSteps.TRAP_AT");
static_assert(TrapState::kAt + offsetof(TrapState, drawn) == 0x50070, "SondeSteps.TRAP_DRAWN");

class ShadowStacks {
 public:
  static constexpr std::uint64_t kRegion = 0x200000;
  static constexpr std::size_t kSlots = 0x10000 / 4 - 1;
  static constexpr std::size_t kLargeCaches = 256;
  static constexpr std::uint32_t kLargeBits = 13;  // 32,768 contexts of 16 bytes, a quarter of that steps of 32
  static constexpr std::uint32_t kSmallBits = 9;
  static constexpr std::size_t kFarCaches = 16;
  static constexpr std::uint64_t kFarSize = std::uint64_t{64} << 17;  // as SondeSteps.FAR_UNUSED_BITS

  // `bias`: what SondeSampling adds to addresses.
  explicit ShadowStacks(std::uint64_t bias) : bias_(bias) {}

  // The first slot of a region as SondeSampling knows it; 0 if there is no memory.
  std::uint64_t lease();
  // Any slot of it will do.
  void release(std::uint64_t slot);
  // Gives the memory of regions back that nobody has.
  void trim();

 private:
  bool add_regions();
  // 0 if there is none to be had.
  std::uint64_t lease_far();

  const std::uint64_t bias_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> free_far_;
  std::size_t far_ = 0;  // how many there are
  std::size_t leased_ = 0;
  std::uint32_t users_ = 0;  // how many there ever were
};

}  // namespace sonde::agent
