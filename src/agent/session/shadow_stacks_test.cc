// SPDX-License-Identifier: Apache-2.0
#include "agent/session/shadow_stacks.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::agent {
namespace {

// As SondeSteps reads them.
std::uint32_t user_of(std::uint64_t region) { return *reinterpret_cast<std::uint32_t*>(region + 0x50000); }
std::uint32_t unused_bits_of(std::uint64_t region) { return *reinterpret_cast<std::uint32_t*>(region + 0x50004); }

TEST(ShadowStacks, EachThreadHasARegionOfItsOwn) {
  ShadowStacks stacks(0);
  const std::uint64_t first = stacks.lease();
  const std::uint64_t second = stacks.lease();
  EXPECT_NE(first, 0u);
  EXPECT_EQ(first % ShadowStacks::kRegion, 0u);
  EXPECT_GE(first > second ? first - second : second - first, ShadowStacks::kRegion);
}

TEST(ShadowStacks, TheNextThreadIsAnotherUserOfTheSameMemory) {
  ShadowStacks stacks(0);
  const std::uint64_t region = stacks.lease();
  const std::uint32_t user = user_of(region);
  stacks.release(region + 40);
  ASSERT_EQ(stacks.lease(), region);
  EXPECT_NE(user_of(region), user);
}

TEST(ShadowStacks, WhereManyThreadsLiveMostHaveASmallCache) {
  ShadowStacks stacks(0);
  std::vector<std::uint64_t> regions;
  for (std::size_t i = 0; i < ShadowStacks::kLargeCaches + 1; ++i) regions.push_back(stacks.lease());
  EXPECT_EQ(unused_bits_of(regions[ShadowStacks::kLargeCaches - 1]), 32 - ShadowStacks::kLargeBits);
  EXPECT_EQ(unused_bits_of(regions[ShadowStacks::kLargeCaches]), 32 - ShadowStacks::kSmallBits);
  stacks.release(regions[0]);
  stacks.release(regions[1]);
  EXPECT_EQ(unused_bits_of(stacks.lease()), 32 - ShadowStacks::kLargeBits) << "fewer live by now";
}

}  // namespace
}  // namespace sonde::agent
