// SPDX-License-Identifier: Apache-2.0
// Intervals that are drawn ahead, so that probes of compiled code can take the next one themselves
// (SondeSampling.sampleByHash): they are in the region of each thread (shadow_stacks.h), up to a zero, which says that
// there are no more. Those that are taken are the thread's quota, though nobody has added them to it yet.
#pragma once

#include <cstdint>

#include "agent/session/sample_countdown.h"
#include "agent/session/shadow_stacks.h"

namespace sonde::agent {

class DrawnIntervals {
 public:
  static constexpr std::uint64_t kAt = 0x51000;
  static constexpr std::size_t kCount = 4096;

  // `memory`: the region, by its real address.
  DrawnIntervals(std::uint64_t memory, TrapState& state)
      : values_(reinterpret_cast<std::int64_t*>(memory + kAt)), state_(state) {}  // NOLINT(performance-no-int-to-ptr)

  // None is drawn.
  void begin() {
    values_[kCount] = 0;
    state_.drawn = state_.settled = values_ + kCount;
  }
  // What the thread may execute since `quota` was set, the intervals included that it took by itself.
  [[nodiscard]] static std::int64_t quota_of(const TrapState& state) {
    std::int64_t quota = state.quota;
    for (const std::int64_t* taken = state.settled; taken < state.drawn; ++taken) quota += *taken;
    return quota;
  }
  [[nodiscard]] bool is_empty() const { return *state_.drawn == 0; }
  std::int64_t take(SampleCountdown& countdown) {
    if (is_empty()) {
      for (std::size_t i = 0; i < kCount; ++i) values_[i] = countdown.next();
      state_.drawn = values_;
    }
    return *state_.drawn++;
  }
  // The rest of them is drawn again when it is needed.
  void end(SampleCountdown& countdown) {
    settle(quota_of(state_));
    countdown.give_back(static_cast<std::size_t>(values_ + kCount - state_.drawn));
    begin();
  }
  void settle(std::int64_t quota) {
    state_.quota = quota;
    state_.settled = state_.drawn;
  }

 private:
  std::int64_t* values_;
  TrapState& state_;
};

}  // namespace sonde::agent
