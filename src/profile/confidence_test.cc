// SPDX-License-Identifier: Apache-2.0
#include "profile/confidence.h"

#include <gtest/gtest.h>

namespace sonde::profile {
namespace {

// Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I, method 3.
TEST(WilsonInterval, IsThatOfTheLiterature) {
  constexpr double k95 = 1.959964;
  EXPECT_NEAR(wilson_interval(81, 263, k95).low, 0.2553, 5e-5);
  EXPECT_NEAR(wilson_interval(81, 263, k95).high, 0.3662, 5e-5);
  EXPECT_NEAR(wilson_interval(15, 148, k95).low, 0.0624, 5e-5);
  EXPECT_NEAR(wilson_interval(15, 148, k95).high, 0.1605, 5e-5);
  EXPECT_NEAR(wilson_interval(0, 20, k95).high, 0.1611, 5e-5);
  EXPECT_NEAR(wilson_interval(1, 29, k95).low, 0.0061, 5e-5);
}

TEST(WilsonInterval, IsWiderTheSurerItIs) {
  EXPECT_LT(wilson_interval(81, 263).low, 0.2553);
  EXPECT_GT(wilson_interval(81, 263).high, 0.3662);
}

TEST(WilsonInterval, OfNothingIsEverything) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

TEST(WilsonInterval, StaysWithinZeroAndOne) {
  EXPECT_EQ(wilson_interval(0, 5).low, 0);
  EXPECT_EQ(wilson_interval(5, 5).high, 1);
}

TEST(IndependentSamples, AreAsManyAsSignalsThatStandForEquallyMany) {
  EXPECT_EQ(independent_samples(1000, 1000), 1000) << "a thousand signals";
  EXPECT_EQ(independent_samples(1000, 100 * 10 * 10), 100) << "a hundred signals, each for ten samples";
}

TEST(IndependentSamples, AreFewerIfSomeSignalsStandForMany) {
  // Ninety signals for one sample each, one for ten.
  EXPECT_EQ(independent_samples(100, 90 + 100), 100 * 100 / 190.0);
}

TEST(IndependentSamples, OfARecordingThatDoesNotTellAreAllOfThem) { EXPECT_EQ(independent_samples(1000, 0), 1000); }

}  // namespace
}  // namespace sonde::profile
