// SPDX-License-Identifier: Apache-2.0
// How many bytecodes a thread executes from one sample to the next: what SondeSampling does (begin, interval, random),
// for samples that are taken without it. The same seed and path have the same intervals here and there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/session/sampling_options.h"

namespace sonde::agent {

struct Intervals {
  std::uint64_t granularity;
  std::uint64_t jitter;
  std::uint64_t seed;

  [[nodiscard]] std::int64_t mean() const { return static_cast<std::int64_t>(granularity + jitter / 2); }
};

inline Intervals intervals_of(const SamplingOptions& options) {
  return {.granularity = options.granularity * options.scale(),
          .jitter = options.jitter * options.scale(),
          .seed = options.seed};
}

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
  // Brings what is left above zero; returns how many samples that are. Of many at once one interval is random, the
  // others are the mean.
  std::uint64_t sample(std::int64_t& left, std::int64_t interval) const {
    left += interval;
    if (left > 0) return 1;
    const std::int64_t more = -left / intervals_.mean() + 1;
    left += more * intervals_.mean();
    return 1 + static_cast<std::uint64_t>(more);
  }
  // So many intervals were drawn that nobody needed.
  void give_back(std::size_t intervals) {
    if (intervals_.jitter != 0) state_ -= intervals * kStep;
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
