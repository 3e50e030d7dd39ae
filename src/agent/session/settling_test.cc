// SPDX-License-Identifier: Apache-2.0
#include "agent/session/settling.h"

#include <gtest/gtest.h>

namespace sonde::agent {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// After how many periods of a second a program has settled whose compilers work so long in each.
int periods_to_settle(std::uint64_t compiled_ns_each, std::uint64_t most_ns, int busy_periods = 1000) {
  Settling settling(kSecond, most_ns);
  std::uint64_t compiled_ns = 70 * kSecond;  // before it was looked at
  for (int period = 1; period < 1000; ++period) {
    if (period <= busy_periods) compiled_ns += compiled_ns_each;
    if (settling.has_settled(compiled_ns)) return period;
  }
  return 1000;
}

TEST(SettlingTest, CompilersAtRestNeedThreePeriods) {
  EXPECT_EQ(periods_to_settle(0, 16 * kSecond), 3);
  EXPECT_EQ(periods_to_settle(kSecond / 10, 16 * kSecond), 3);
}

TEST(SettlingTest, AJvmThatDoesNotTellIsTakenForSettled) {
  Settling settling(kSecond, 16 * kSecond);
  EXPECT_FALSE(settling.has_settled(0));
  EXPECT_FALSE(settling.has_settled(0));
  EXPECT_TRUE(settling.has_settled(0));
}

TEST(SettlingTest, GoesOnUntilCompilersRest) {
  EXPECT_EQ(periods_to_settle(kSecond, 16 * kSecond, /*busy_periods=*/11), 12);
}

TEST(SettlingTest, CompilersThatNeverRestAreNotWaitedForAnyLonger) {
  EXPECT_EQ(periods_to_settle(kSecond, 16 * kSecond), 19);
  EXPECT_EQ(periods_to_settle(kSecond, 0), 3);
}

TEST(SettlingTest, AFifthOfThePeriodIsNoRest) {
  EXPECT_EQ(periods_to_settle(kSecond / 5, 4 * kSecond), 7);
  EXPECT_EQ(periods_to_settle(kSecond / 5 - 1, 4 * kSecond), 3);
}

}  // namespace
}  // namespace sonde::agent
