// SPDX-License-Identifier: Apache-2.0
#include "gate/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/metric.h"
#include "profile/test_profile.h"

namespace sonde::gate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBefore = R"(
thread main
  App.main()V 1 1000
    App.load()V 1 20000
      Map.put()V 100 40000
    App.sort()V 1 9000
      Map.put()V 50 30000
)";

std::string with(std::string_view from, std::string_view to) {
  std::string text = kBefore;
  return text.replace(text.find(from), from.size(), to);
}

// "hard App.sort() 9000 -> 9900 +1 %: App.main App.sort"
std::vector<std::string> findings(std::string_view now, std::string_view toml = {}) {
  const Limits limits = toml.empty() ? default_limits() : parse_limits(toml).value();
  const Baseline baseline = make_baseline(profile::drawn_profile(kBefore), limits, 0.1);
  const Result<CheckResult> result = check(profile::drawn_profile(now), baseline, limits);
  if (!result.ok()) return {result.error().to_string()};
  std::vector<std::string> lines;
  for (const Finding& f : result->findings) {
    std::string line = (f.verdict == Verdict::kHard ? "hard " : "soft ") + f.subject + " " +
                       std::to_string(f.baseline) + " -> " + std::to_string(f.value) + " " + f.bound.text() +
                       (f.is_new ? " new" : "") + ":";
    for (const Frame& frame : f.path) line += " " + frame.name;
    lines.push_back(line);
  }
  return lines;
}

TEST(Check, TheSameRecordingPasses) { EXPECT_THAT(findings(kBefore), IsEmpty()); }

TEST(Check, NamesTheMethodThatGrewAndItsPath) {
  EXPECT_THAT(findings(with("9000", "9180")),
              ElementsAre("hard App.sort() 9000 -> 9180 +1 %: App.main App.sort",
                          "soft the whole program 100000 -> 100180 +0.1 %: App.main App.sort"))
      << "2 % of one method, 0.18 % of all";
  EXPECT_THAT(findings(with("50 30000", "51 31500")),
              ElementsAre("hard the whole program 100000 -> 101500 +1 %: App.main App.sort Map.put",
                          "hard Map.put() 70000 -> 71500 +1 %: App.main App.sort Map.put"));
}

TEST(Check, SmallGrowthOfSmallMethodsIsIgnored) {
  EXPECT_THAT(findings(with("1 1000", "1 1050")), IsEmpty()) << "5 %, but 0.05 % of the whole";
  EXPECT_THAT(
      findings(with("1 1000", "1 1050"), "[[limit]]\nmethod = \"App.*\"\nhard = \"1 %\"\nignore_below = \"0 %\"\n"),
      ElementsAre("hard App.main() 1000 -> 1050 +1 %: App.main"));
}

TEST(Check, WhatTheBaselineDoesNotKnowIsAWarning) {
  EXPECT_THAT(findings(with("App.sort()V", "App.quick()V")),
              ElementsAre("soft App.quick() 0 -> 9000 +1 % new: App.main App.quick"));
}

TEST(Check, BoundsMayBeAbsoluteOrOnContextsOrOnCalls) {
  EXPECT_THAT(findings(kBefore, "[[limit]]\ncontext = [\"App.sort\", \"Map.put\"]\nmetric = \"calls\"\nhard = 49\n"),
              ElementsAre("hard App.sort > Map.put 50 -> 50 at most 49: App.main App.sort Map.put"));
  EXPECT_THAT(findings(kBefore, "[[limit]]\ncontext = [\"App.sort\", \"Map.put\"]\nmetric = \"calls\"\nhard = 50\n"),
              IsEmpty());
  EXPECT_THAT(findings(with("50 30000", "61 30000"), "[[limit]]\nmetric = \"calls\"\nsoft = \"+5\"\nhard = \"+10\"\n"),
              ElementsAre("hard the whole program 153 -> 164 +10: App.main App.sort Map.put"));
  EXPECT_THAT(findings(with("9000", "9900"), "[[limit]]\ncontext = [\"App.sort\"]\nsoft = \"1 %\"\n"),
              ElementsAre("soft App.sort 39000 -> 39900 +1 %: App.main App.sort"));
}

TEST(Check, WhatVariesIsLeftOutOnBothSides) {
  const char* toml = "[[limit]]\nhard = \"0 %\"\n[[allow]]\nmethod = \"Map.*\"\n";
  EXPECT_THAT(findings(with("50 30000", "90 99999"), toml), IsEmpty());
  EXPECT_THAT(findings(with("9000", "9001"), toml),
              ElementsAre("hard the whole program 30000 -> 30001 +0 %: App.main App.sort"));
}

TEST(Check, RefusesWhatCannotBeCompared) {
  profile::Profile profile = profile::drawn_profile(kBefore);
  const Limits limits = default_limits();
  const Baseline baseline = make_baseline(profile, limits, 0.1);
  Limits other = limits;
  other.allowed.push_back({.thread = "x", .method = {}, .reason = {}});
  EXPECT_THAT(check(profile, baseline, other).error().to_string(), HasSubstr("make the baseline anew"));
  profile.recording.jdk = "25";
  EXPECT_TRUE(check(profile, baseline, limits)->is_other_jdk);
  profile.recording.includes_jdk = false;
  EXPECT_THAT(check(profile, baseline, limits).error().to_string(), HasSubstr("mode `exact precise`"));
  profile.recording.state = profile::State::kRunning;
  EXPECT_THAT(check(profile, baseline, limits).error().to_string(), HasSubstr("not complete"));
  EXPECT_THAT(findings("thread t\n  A.a()V 5 0\n"), ElementsAre(HasSubstr("has no bytecodes")));
}

}  // namespace
}  // namespace sonde::gate
