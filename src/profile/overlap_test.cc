// SPDX-License-Identifier: Apache-2.0
#include "profile/overlap.h"

#include <gtest/gtest.h>

#include "profile/metric.h"
#include "profile/test_profile.h"

namespace sonde::profile {
namespace {

Overlap overlap_of(std::string_view a, std::string_view b, const OverlapOptions& options = {}) {
  return overlap({drawn_profile(a), Metric::kBytecodes}, {drawn_profile(b), Metric::kBytecodes}, options);
}

constexpr const char* kMain = R"(
thread main
  A.main()V 1 10
    A.parse()V 3 60 @4
      A.next()I 9 20 @8
    A.print()V 1 10 @5
)";

TEST(Overlap, OfAProfileWithItselfIsExactlyHundred) {
  const Overlap same = overlap_of(kMain, kMain);
  EXPECT_EQ(same.percent, 100.0);
  EXPECT_EQ(same.common_contexts, 4u);
  EXPECT_EQ(same.a.sum, 100u);
  // Shares are compared, not amounts: thirds of three and of three thousand are the same.
  EXPECT_EQ(overlap_of("thread t\n  A.a()V 1 1\n  A.b()V 1 1\n  A.c()V 1 1\n",
                       "thread t\n  A.a()V 1 1000\n  A.b()V 1 1000\n  A.c()V 1 1000\n")
                .percent,
            100.0);
}

TEST(Overlap, IsTheSumOfTheSmallerShares) {
  // Of 100: main 10, parse 60, next 20, print 10. Of 200: main 20 %, parse 30 %, print 25 %, other 25 %.
  const char* other = R"(
thread main
  A.main()V 1 40
    A.parse()V 3 60 @4
    A.print()V 1 50 @5
    A.other()V 1 50 @5
)";
  const Overlap result = overlap_of(kMain, other);
  EXPECT_DOUBLE_EQ(result.percent, 10 + 30 + 10);
  EXPECT_EQ(result.common_contexts, 3u);
  EXPECT_EQ(result.b.contexts, 4u);
  EXPECT_EQ(overlap_of(other, kMain).percent, result.percent) << "symmetric";
}

TEST(Overlap, TellsContextsOfOneMethodApart) {
  EXPECT_DOUBLE_EQ(overlap_of("thread t\n  A.a()V 1 0\n    A.x()V 1 50\n  A.b()V 1 0\n    A.x()V 1 50\n",
                              "thread t\n  A.a()V 1 0\n    A.x()V 1 80\n  A.c()V 1 0\n    A.x()V 1 20\n")
                       .percent,
                   50);
  EXPECT_EQ(overlap_of("thread t\n  A.a()V 1 9\n", "thread t\n  A.a(I)V 1 9\n").percent, 0) << "an overload";
}

TEST(Overlap, MergesCallSitesAndThreadsUnlessToldOtherwise) {
  const char* two =
      "thread s\n  A.a()V 1 0\n    A.x()V 1 30 @1\n    A.x()V 1 30 @2\nthread t\n  A.a()V 1 0\n    A.x()V 1 40\n";
  const char* one = "thread t\n  A.a()V 1 0\n    A.x()V 1 7 @3\n";
  EXPECT_EQ(overlap_of(two, one).percent, 100.0);
  EXPECT_EQ(overlap_of(two, one).a.contexts, 1u);
  EXPECT_DOUBLE_EQ(overlap_of(two, one, {.by_thread = true}).percent, 40);
  EXPECT_EQ(overlap_of(two, one, {.by_thread = true}).a.contexts, 2u);
}

TEST(Overlap, FilteredMethodsLeaveStacksAndSums) {
  // Recorded with and without the JDK: the same, if the JDK is left out.
  const char* with = "thread t\n  A.a()V 1 30\n    java/util/List.each()V 1 900 @2\n      A.b()V 1 70 @3\n";
  const char* without = "thread t\n  A.a()V 1 30\n    A.b()V 1 70 @2\n";
  EXPECT_DOUBLE_EQ(overlap_of(with, without).percent, 3) << "30 of 1000, and another stack";
  const Overlap filtered = overlap_of(with, without, {.filter = MethodFilter({}, {"java.*"})});
  EXPECT_EQ(filtered.percent, 100.0);
  EXPECT_EQ(filtered.a.sum, 100u);
  EXPECT_DOUBLE_EQ(overlap_of(with, without, {.filter = MethodFilter({"A.b"}, {})}).percent, 100);
}

TEST(Overlap, ComparesDifferentMetrics) {
  const Profile profile = drawn_profile("thread t\n  A.a()V 25 300\n  A.b()V 75 100\n");
  EXPECT_DOUBLE_EQ(overlap({profile, Metric::kCalls}, {profile, Metric::kBytecodes}).percent, 25 + 25);
}

TEST(Overlap, OfNothingIsZeroAndOfHugeNumbersIsExact) {
  EXPECT_EQ(overlap_of("thread t\n  A.a()V 1 0\n", kMain).percent, 0);
  EXPECT_EQ(overlap_of("", "").percent, 0);
  const std::string huge = "thread t\n  A.a()V 1 9223372036854775807\n  A.b()V 1 9223372036854775807\n";
  EXPECT_EQ(overlap_of(huge, huge).percent, 100.0);
}

TEST(Metrics, HaveNamesAndOneOfWork) {
  for (const MetricInfo& info : kMetrics) EXPECT_EQ(metric_named(name_of(info.metric)), info.metric);
  EXPECT_EQ(metric_named("seconds"), std::nullopt);
  EXPECT_EQ(metric_of_work(drawn_profile(kMain)), Metric::kBytecodes);
  EXPECT_EQ(metric_of_work(drawn_profile("thread t\n  A.a()V 3 0\n")), std::nullopt);
  EXPECT_EQ(sum_of(drawn_profile(kMain), Metric::kCalls), 14u);
}

}  // namespace
}  // namespace sonde::profile
