// SPDX-License-Identifier: Apache-2.0
#include "agent/session/drawn_intervals.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::agent {
namespace {

class DrawnIntervalsTest : public ::testing::Test {
 protected:
  DrawnIntervalsTest() { drawn_.begin(); }

  // What SondeSampling.sampleByHash does; 0: it cannot.
  std::int64_t take_as_a_probe() {
    const std::int64_t interval = *state_.drawn;
    if (interval != 0) ++state_.drawn;
    return interval;
  }

  static constexpr Intervals kIntervals = {.granularity = 500, .jitter = 100, .seed = 1};
  std::vector<std::int64_t> memory_ = std::vector<std::int64_t>((DrawnIntervals::kAt / 8) + DrawnIntervals::kCount + 1);
  TrapState state_{.random = 1};
  DrawnIntervals drawn_{reinterpret_cast<std::uint64_t>(memory_.data()), state_};
  SampleCountdown countdown_{kIntervals, state_.random};
};

TEST_F(DrawnIntervalsTest, AreThoseThatWouldBeDrawnOneByOne) {
  std::uint64_t random = 1;
  SampleCountdown one_by_one(kIntervals, random);
  for (std::size_t i = 0; i < 3 * DrawnIntervals::kCount; ++i) {
    const std::int64_t taken = take_as_a_probe();
    ASSERT_EQ(taken != 0 ? taken : drawn_.take(countdown_), one_by_one.next()) << i;
  }
}

TEST_F(DrawnIntervalsTest, WhatProbesTookIsPartOfTheQuota) {
  drawn_.settle(drawn_.take(countdown_));
  const std::int64_t before = DrawnIntervals::quota_of(state_);
  const std::int64_t taken = take_as_a_probe() + take_as_a_probe();
  EXPECT_EQ(DrawnIntervals::quota_of(state_), before + taken);
  drawn_.settle(7);
  EXPECT_EQ(DrawnIntervals::quota_of(state_), 7);
}

TEST_F(DrawnIntervalsTest, AtTheEndNoneIsLost) {
  std::uint64_t random = 1;
  SampleCountdown one_by_one(kIntervals, random);
  drawn_.settle(drawn_.take(countdown_));
  take_as_a_probe();
  const std::int64_t quota = one_by_one.next() + one_by_one.next();
  drawn_.end(countdown_);
  EXPECT_EQ(state_.quota, quota);
  EXPECT_EQ(state_.random, random) << "those that nobody took are drawn again";
  EXPECT_EQ(take_as_a_probe(), 0);
}

}  // namespace
}  // namespace sonde::agent
