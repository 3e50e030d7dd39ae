// SPDX-License-Identifier: Apache-2.0
// How many bytecodes a thread executes from one sample to the next: what SondeSampling does (begin, interval, random),
// for samples that are taken without it. The same seed and path have the same intervals here and there.
#pragma once

#include <cstdint>

namespace sonde::agent {

struct Intervals {
  std::uint64_t granularity;
  std::uint64_t jitter;
  std::uint64_t seed;
};

// SplitMix64, a thread's own.
class SampleCountdown {
 public:
  SampleCountdown(const Intervals& intervals, std::uint64_t& state) : intervals_(intervals), state_(state) {}

  // The first interval of a thread, which is known by its path.
  std::int64_t begin(std::uint64_t path) {
    state_ = mixed(intervals_.seed * kStep + path) | 1U;
    const bool is_constant = intervals_.jitter == 0;
    return static_cast<std::int64_t>(is_constant ? intervals_.granularity : 1 + random() % intervals_.granularity);
  }
  std::int64_t next() {
    if (intervals_.jitter == 0) return static_cast<std::int64_t>(intervals_.granularity);
    const bool is_scaled = intervals_.jitter <= kMostScaled;
    const std::uint64_t more = is_scaled ? (random() >> 31U) * intervals_.jitter >> 32U : random() % intervals_.jitter;
    return static_cast<std::int64_t>(intervals_.granularity + more);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t kMostScaled = 0x7fffffff;

  std::uint64_t random() {
    state_ += kStep;
    return mixed(state_) >> 1U;
  }
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27U) * 0x94d049bb133111eb;
    return x ^ x >> 31U;
  }

  const Intervals& intervals_;
  std::uint64_t& state_;
};

}  // namespace sonde::agent
