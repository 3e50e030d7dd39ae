// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_command.h"

#include <nlohmann/json.hpp>

#include "cli/drawn_recordings.h"

namespace sonde::cli {
namespace {

using profile::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CompareCommand : public DrawnRecordings {
 protected:
  CompareCommand() : DrawnRecordings("test/golden/compare") {}

  std::string a_ = drawn("a", "thread main\n  A.main()V 1 40\n    A.get()I 3 60 @4\n");
  std::string b_ = drawn("b", "thread other\n  A.main()V 1 100\n    A.get()I 1 60 @9\n    A.set(I)V 6 40 @9\n");
};

TEST_F(CompareCommand, OverlapIsToldInWordsAndAsJson) {
  EXPECT_EQ(overlap({.a = a_, .b = b_}, memory_.console()), kOk);
  EXPECT_EQ(memory_.out(), "A         " + a_ + ": 100 bytecodes in 2 contexts\nB         " + b_ +
                               ": 200 bytecodes in 3 contexts\nCommon    2 contexts\nOverlap   70.00 %\n");
  MemoryConsole json;
  EXPECT_EQ(overlap({.a = a_, .b = b_, .json = true}, json.console()), kOk);
  const auto parsed = nlohmann::json::parse(json.out());
  EXPECT_DOUBLE_EQ(parsed["overlap_percent"].get<double>(), 70);
  EXPECT_EQ(parsed["common_contexts"], 2);
  EXPECT_EQ(parsed["b"]["sum"], 200);
  EXPECT_EQ(parsed["a"]["metric"], "bytecodes");
  EXPECT_EQ(parsed["a"]["recording"]["mode"], "exact");
}

TEST_F(CompareCommand, OverlapFollowsMetricsPatternsAndThreads) {
  const auto percent = [&](OverlapOptions options) {
    options.a = a_;
    options.b = b_;
    options.json = true;
    MemoryConsole memory;
    EXPECT_EQ(overlap(options, memory.console()), kOk) << memory.err();
    return nlohmann::json::parse(memory.out())["overlap_percent"].get<double>();
  };
  EXPECT_DOUBLE_EQ(percent({.metric_a = Metric::kCalls, .metric_b = Metric::kCalls}), 25);
  EXPECT_DOUBLE_EQ(percent({.metric_a = Metric::kCalls}), 25 + 30);
  EXPECT_DOUBLE_EQ(percent({.exclude = {"A.set", "A.main"}}), 100);
  EXPECT_DOUBLE_EQ(percent({.by_thread = true}), 0);
}

TEST_F(CompareCommand, OverlapExplainsWhyThereIsNothingToCompare) {
  const std::string empty = drawn("empty", "thread main\n  A.main()V 1 0\n");
  EXPECT_EQ(overlap({.a = a_, .b = empty}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(),
              AllOf(HasSubstr("empty.sonde.live: has no bytecodes and no samples"), HasSubstr("status")));
  EXPECT_EQ(overlap({.a = a_, .b = "/no/such.sonde"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("/no/such.sonde: does not exist"));
  EXPECT_EQ(overlap({.a = a_, .b = b_, .include = {"Z.*"}}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("no method of " + a_ + " matches"));
  EXPECT_THAT(memory_.out(), IsEmpty());
}

}  // namespace
}  // namespace sonde::cli
