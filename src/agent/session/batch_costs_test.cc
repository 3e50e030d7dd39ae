// SPDX-License-Identifier: Apache-2.0
#include "agent/session/batch_costs.h"

#include <gtest/gtest.h>

namespace sonde::agent {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Batches as large as they should be, with what they cost by this rule.
template <typename PauseOf>
BatchCosts run(int batches, PauseOf&& pause_of) {
  BatchCosts costs;
  for (int i = 0; i < batches; ++i) {
    const std::uint64_t pause = pause_of(costs.next_size());
    costs.note(costs.next_size(), 3 * pause, pause);
  }
  return costs;
}

TEST(BatchCosts, BatchesGrowWhilePausesAreShort) {
  EXPECT_EQ(BatchCosts().next_size(), BatchCosts::kFirst);
  EXPECT_EQ(run(50, [](std::size_t) { return kMs; }).next_size(), BatchCosts::kMost);
}

TEST(BatchCosts, PausesStayWithinTheLimit) {
  const BatchCosts costs = run(200, [](std::size_t n) { return 8 * kMs + n * kMs / 25; });
  EXPECT_LE(costs.summary().paused.longest, BatchCosts::kPauseNs);
  EXPECT_GE(costs.next_size(), 150u);
}

// The machine is slow: a class takes five times as long as we expect.
TEST(BatchCosts, ClassesThatTakeLongMakeBatchesSmall) {
  const BatchCosts costs = run(200, [](std::size_t n) { return 2 * kMs + n * kMs / 5; });
  EXPECT_LE(costs.summary().paused.total, 200 * BatchCosts::kPauseNs);
  EXPECT_LE(costs.summary().paused.longest, 2 * BatchCosts::kPauseNs);
}

// Ten times as many classes are loaded: the pause for a single one is 40 ms.
TEST(BatchCosts, BatchesStayLargeIfEvenOneClassTakesLong) {
  const BatchCosts costs = run(200, [](std::size_t n) { return 40 * kMs + n * kMs / 25; });
  EXPECT_GE(costs.next_size(), 200u);
  EXPECT_LE(costs.summary().paused.longest, 52 * kMs);
}

// The lazy scheme changes a class or two at a time, and all of them when it ends.
TEST(BatchCosts, SmallBatchesDoNotMakeTheNextOneSmall) {
  BatchCosts costs;
  for (int i = 0; i < 100; ++i) costs.note(2, 12 * kMs, 11 * kMs);
  EXPECT_EQ(costs.next_size(), BatchCosts::kFirst);
}

TEST(BatchCosts, OneLongPauseIsForgotten) {
  for (const int before : {0, 20}) {
    BatchCosts costs = run(before, [](std::size_t n) { return kMs + n * kMs / 20; });
    costs.note(costs.next_size(), 900 * kMs, 800 * kMs);
    for (int i = 0; i < 10; ++i) costs.note(costs.next_size(), 0, kMs + costs.next_size() * kMs / 20);
    EXPECT_GT(costs.next_size(), 200u) << before;
  }
}

// As when old versions of classes pile up.
TEST(BatchCosts, PausesThatGrowDoNotEndInSingleClasses) {
  std::uint64_t base = kMs;
  const BatchCosts costs = run(300, [&](std::size_t n) { return (base += kMs / 10) + n * kMs / 10; });
  EXPECT_GE(costs.summary().classes, 300u * 25);
}

TEST(BatchCosts, SumsUp) {
  BatchCosts costs;
  EXPECT_EQ(costs.summary().batches, 0u);
  for (std::uint64_t i = 1; i <= 200; ++i) costs.note(10, i * kMs, i);
  costs.refuse(3);
  const BatchSummary summary = costs.summary();
  EXPECT_EQ(summary.batches, 200u);
  EXPECT_EQ(summary.classes, 1997u);
  EXPECT_EQ(summary.took.total, 20'100 * kMs);
  EXPECT_EQ(summary.took.p99, 198 * kMs);
  EXPECT_EQ(summary.took.longest, 200 * kMs);
  EXPECT_EQ(summary.paused.p99, 198u);
}

}  // namespace
}  // namespace sonde::agent
