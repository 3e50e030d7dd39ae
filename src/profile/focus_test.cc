// SPDX-License-Identifier: Apache-2.0
#include "profile/focus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace sonde::profile {
namespace {

using ::testing::ElementsAre;

Focus focus(const Profile& profile, std::string_view method_name) {
  std::vector<bool> is_focused(profile.methods.size());
  for (std::size_t i = 0; i < is_focused.size(); ++i) is_focused[i] = profile.methods[i].name == method_name;
  return focus_on(profile, profile.all_threads(), is_focused);
}

std::vector<std::string> lines(const Profile& profile, const std::vector<Neighbour>& neighbours) {
  std::vector<std::string> result;
  result.reserve(neighbours.size());
  for (const Neighbour& n : neighbours) {
    result.push_back(profile.display_name(n.method) + " calls " + std::to_string(n.calls) + " total " +
                     std::to_string(n.total.of(Metric::kBytecodes)));
  }
  return result;
}

TEST(Focus, TellsCallersAndCallees) {
  const Profile profile = drawn_profile(R"(
thread main
  A.main()V 1 10
    A.get()V 2 20 @5
      A.read()V 7 70 @6
    A.get()V 3 30 @6
      A.read()V 1 5 @6
        A.open()V 1 400
    A.set()V 1 1 @7
      A.get()V 4 40 @8
thread other
  A.get()V 5 50
)");
  const Focus result = focus(profile, "get");
  EXPECT_THAT(lines(profile, result.callers),
              ElementsAre("[thread] calls 5 total 50", "A.main calls 5 total 525", "A.set calls 4 total 40"));
  EXPECT_THAT(lines(profile, result.callees), ElementsAre("A.read calls 8 total 475"));
  EXPECT_EQ(result.sum.self.of(Metric::kBytecodes), 140u);
  EXPECT_EQ(result.sum.self.of(Metric::kCalls), 14u);
  EXPECT_EQ(result.sum.total.of(Metric::kBytecodes), 50u + 525 + 40);
}

TEST(Focus, CountsRecursionOnce) {
  const Profile profile = drawn_profile(R"(
thread main
  A.main()V 1 1
    A.walk()V 1 10
      A.walk()V 2 20
        A.leaf()V 3 300
      A.visit()V 4 40
        A.walk()V 5 50
          A.visit()V 6 60
)");
  const Focus result = focus(profile, "walk");
  EXPECT_THAT(lines(profile, result.callers),
              ElementsAre("A.main calls 1 total 480", "A.walk calls 2 total 0", "A.visit calls 5 total 0"));
  EXPECT_THAT(lines(profile, result.callees),
              ElementsAre("A.walk calls 2 total 320", "A.leaf calls 3 total 300", "A.visit calls 10 total 150"));
  EXPECT_EQ(result.sum.total.of(Metric::kBytecodes), 480u) << "the totals of all callers";
}

TEST(Focus, OnNothingIsEmpty) {
  const Profile profile = drawn_profile("thread t\n  A.a()V 1 1\n");
  const Focus result = focus(profile, "none");
  EXPECT_TRUE(result.callers.empty());
  EXPECT_TRUE(result.callees.empty());
  EXPECT_EQ(result.sum.total, Amounts{});
}

}  // namespace
}  // namespace sonde::profile
