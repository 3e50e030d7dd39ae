// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

using profile::Interval;
using profile::Metric;
using testing::HasSubstr;
using testing::Not;

profile::Profile sampled_each_millisecond(std::uint64_t samples, std::uint64_t counts_squared) {
  profile::Profile profile;
  profile.recording.time_sampling = {.cpu_interval_ns = 1'000'000,
                                     .cpu_clock = "thread-timer",
                                     .cpu_samples = samples,
                                     .cpu_counts_squared = counts_squared,
                                     .thread_cpu_ns = samples * 1'000'000};
  return profile;
}

TEST(SamplingReport, IsAsSureOfTimeAsOfSamples) {
  const profile::Profile profile = sampled_each_millisecond(1000, 1000);
  const Interval samples = confidence_of(profile, Metric::kSamples, 300, 1000);
  const Interval time = confidence_of(profile, Metric::kCpuNs, 300'000'000, 1'000'000'000);
  EXPECT_DOUBLE_EQ(samples.low, time.low);
  EXPECT_DOUBLE_EQ(samples.high, time.high);
  EXPECT_EQ(confidence_text(samples), "26.4-33.9 %");
}

// A timer that the kernel's tick held back ten times stands for ten samples, but it saw one stack.
TEST(SamplingReport, TakesMergedSamplesForOne) {
  const profile::Profile merged = sampled_each_millisecond(1000, 100 * 10 * 10);
  EXPECT_EQ(confidence_text(confidence_of(merged, Metric::kSamples, 300, 1000)),
            confidence_text(confidence_of(sampled_each_millisecond(100, 100), Metric::kSamples, 30, 100)));
  EXPECT_THAT(sampling_lines(merged), HasSubstr("1,000 CPU samples"));
  EXPECT_THAT(sampling_lines(merged), HasSubstr("as good as 100 independent ones"));
}

TEST(SamplingReport, SaysNothingOfIndependenceWhereAllAre) {
  EXPECT_THAT(sampling_lines(sampled_each_millisecond(1000, 1000)), Not(HasSubstr("independent")));
  EXPECT_THAT(sampling_lines(sampled_each_millisecond(1000, 0)), Not(HasSubstr("independent")));
}

// Of 2 s of CPU time.
std::string lines_of(const std::string& clock, std::uint64_t samples) {
  profile::Profile profile = sampled_each_millisecond(samples, samples);
  profile.recording.time_sampling.cpu_clock = clock;
  profile.recording.time_sampling.thread_cpu_ns = 2'000'000'000;
  return sampling_lines(profile);
}

TEST(SamplingReport, SaysWhereEventsOfThreadsMissMuchOfTheirTime) {
  EXPECT_THAT(lines_of("perf-trap", 1200), HasSubstr("Missed    40 % of the CPU time"));
  EXPECT_THAT(lines_of("perf", 1990), Not(HasSubstr("Missed")));
  EXPECT_THAT(lines_of("perf-shared-trap", 1200), HasSubstr("`--clock perf` gives each its own"));
  // Not what is left out by intention.
  EXPECT_THAT(lines_of("perf-user", 1200), Not(HasSubstr("Missed")));
}

TEST(SamplingReport, NamesTheClock) {
  EXPECT_THAT(lines_of("perf", 2000), HasSubstr("(perf clock)"));
  EXPECT_THAT(lines_of("perf-user-trap", 2000), HasSubstr("(perf clock without the kernel's time)"));
  EXPECT_THAT(lines_of("perf-user-shared-trap", 2000),
              HasSubstr("(perf clock of all threads without the kernel's time)"));
  EXPECT_THAT(lines_of("thread-timer", 2000), HasSubstr("(thread timers"));
}

}  // namespace
}  // namespace sonde::cli
