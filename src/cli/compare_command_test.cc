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

class DiffCommand : public CompareCommand {
 protected:
  template <typename Options>
  std::string run(int (*command)(const Options&, const Console&), Options options) {
    options.a = drawn("before", read(goldens_ / "before.drawing"));
    options.b = drawn("after", read(goldens_ / "after.drawing"));
    MemoryConsole memory;
    EXPECT_EQ(command(options, memory.console()), kOk) << memory.err();
    std::string out = memory.out();
    const std::string folder = folder_.string() + "/";
    for (std::size_t at; (at = out.find(folder)) != std::string::npos;) out.erase(at, folder.size());
    return out;
  }
  std::string run(const DiffOptions& options) { return run(diff, options); }
};

TEST_F(DiffCommand, ShowsThePathOfMostChangeThenMethodsAndContexts) {
  expect_golden("diff", run({}));
  expect_golden("diff_calls_by_package", run({.by = DiffBy::kPackage, .metric = Metric::kCalls}));
  expect_golden("diff_normalised_top_2", run({.is_normalised = true, .top = 2}));
  expect_golden("diff_context_without_jdk", run({.by = DiffBy::kContext, .exclude = {"java.*"}}));
  expect_golden("diff_class_of_main", run({.by = DiffBy::kClass, .include = {"com.acme.*"}, .thread = "main"}));
}

TEST_F(DiffCommand, IsJsonToo) {
  expect_golden("diff_json", run({.top = 1, .json = true}));
  expect_golden("diff_normalised_packages_json",
                run({.by = DiffBy::kPackage, .is_normalised = true, .top = 1, .json = true}));
  expect_golden("overlap_json", run(overlap, OverlapOptions{.json = true}));
  const auto json = nlohmann::json::parse(run({.json = true}));
  EXPECT_EQ(json["path"].back()["name"], "java.util.HashMap.resize");
  EXPECT_EQ(json["contexts"]["rows"][0]["stack"].size(), 5u);
  EXPECT_EQ(json["methods"]["rows"][0]["change_self"], 16000);
}

TEST_F(DiffCommand, OfARecordingWithItselfIsNothing) {
  EXPECT_EQ(diff({.a = a_, .b = a_}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), HasSubstr("Change    0 calls (0.0 %), 0 bytecodes (0.0 %)\n\nno difference\n"));
}

TEST_F(DiffCommand, ExplainsWhyThereIsNothingToCompare) {
  const std::string empty = drawn("empty", "thread main\n  A.main()V 1 0\n");
  EXPECT_EQ(diff({.a = a_, .b = empty}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("have no bytecodes or samples both"));
  EXPECT_EQ(diff({.a = a_, .b = b_, .thread = "main"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("no thread of " + b_ + " matches `main`"));
}

}  // namespace
}  // namespace sonde::cli
