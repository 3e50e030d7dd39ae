// SPDX-License-Identifier: Apache-2.0
#include "cli/modes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

using testing::HasSubstr;

TEST(Modes, ComeWithIntervalsAndInAnyCombination) {
  const auto modes = parse_modes("wall,exact,cpu:500us");
  ASSERT_TRUE(modes.ok());
  EXPECT_TRUE(modes->exact);
  EXPECT_FALSE(modes->flat);
  EXPECT_EQ(modes->cpu_interval_ns, 500'000U);
  EXPECT_EQ(modes->wall_interval_ns, 10'000'000U);
}

TEST(Modes, SampledOnlyCountsNothing) {
  const auto modes = parse_modes("cpu");
  ASSERT_TRUE(modes.ok());
  EXPECT_FALSE(modes->exact);
  EXPECT_TRUE(modes->is_sampled());
  EXPECT_EQ(modes->cpu_interval_ns, 1'000'000U);
}

TEST(Modes, SayWhatIsWrong) {
  EXPECT_THAT(parse_modes("cpux").error().message, HasSubstr("unknown mode `cpux`"));
  EXPECT_THAT(parse_modes("").error().message, HasSubstr("unknown mode ``"));
  EXPECT_THAT(parse_modes("exact,").error().message, HasSubstr("unknown mode ``"));
  EXPECT_THAT(parse_modes("cpu:fast").error().message, HasSubstr("`fast` is no interval"));
  EXPECT_THAT(parse_modes("cpu:1us").error().message, HasSubstr("out of range for mode cpu"));
  EXPECT_THAT(parse_modes("wall:100us").error().message, HasSubstr("out of range for mode wall"));
}

TEST(Durations, HaveAUnit) {
  EXPECT_EQ(parse_duration_ns("1ms"), 1'000'000U);
  EXPECT_EQ(parse_duration_ns("2s"), 2'000'000'000U);
  EXPECT_EQ(parse_duration_ns("10"), 0U);
  EXPECT_EQ(parse_duration_ns("-1ms"), 0U);
  EXPECT_EQ(parse_duration_ns("99999999999999999999s"), 0U);
}

}  // namespace
}  // namespace sonde::cli
