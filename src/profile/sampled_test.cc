// SPDX-License-Identifier: Apache-2.0
// Recordings of deterministic sampling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/metric.h"
#include "profile/sums.h"
#include "profile/test_profile.h"

namespace sonde::profile {
namespace {

using ::testing::ElementsAre;

Profile sampled(std::string_view drawing, const std::vector<std::uint64_t>& executed) {
  arena::TestArena arena(drawing);
  arena.make_sampled(executed);
  return ingest(arena::Reader::over(arena.bytes()).value()).value();
}

TEST(Sampled, ContextsShareWhatWasExecutedByTheirSamples) {
  const Profile profile = sampled(R"(
thread main
  App.main()V 0 1
    App.get()I 0 2 @12 leaf path=3
    App.run()V 0 4 @14
)",
                                  {7102});
  EXPECT_EQ(profile.recording.mode, "bytecode");
  EXPECT_EQ(profile.recording.sampling.granularity, 1000u);
  EXPECT_THAT(profile.tree.values(Metric::kSamples), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(profile.tree.values(Metric::kBytecodes), ElementsAre(0, 1014, 2029, 4059));
  EXPECT_FALSE(has_metric(profile, Metric::kCalls));
  EXPECT_EQ(sum_of(profile, Metric::kBytecodes), 7102u);
  EXPECT_EQ(metric_of_work(profile), Metric::kSamples);
}

TEST(Sampled, WhatWasNeverSampledIsPartOfTheSum) {
  const Profile profile = sampled("thread main\n  App.main()V 0 1\nthread brief\n", {1500, 42});
  EXPECT_EQ(text_of(profile), "thread main\n  App.main()V 0 1500\nthread brief\n  [no sample] 0 42\n");
}

TEST(Sampled, SharesAddUpForLargeNumbers) {
  std::string drawing = "thread main\n";
  for (int i = 0; i < 300; ++i) drawing += "  App.m" + std::to_string(i) + "()V 0 " + std::to_string(i * i + 1) + "\n";
  const std::uint64_t executed = 0x7fff'ffff'ffff'fff1;
  const Profile profile = sampled(drawing, {executed});
  EXPECT_EQ(sum_of(profile, Metric::kBytecodes), executed);
  for (std::size_t i = 1; i < profile.tree.size(); ++i) EXPECT_GT(profile.tree.value(Metric::kBytecodes, i), 0u) << i;
}

}  // namespace
}  // namespace sonde::profile
