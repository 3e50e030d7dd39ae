// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_command.h"

#include <nlohmann/json.hpp>

#include "cli/drawn_recordings.h"

namespace sonde::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GateCommand : public DrawnRecordings {
 protected:
  GateCommand() : DrawnRecordings("test/golden/gate") {
    MemoryConsole memory;
    EXPECT_EQ(baseline({.file = before_, .limits = limits_, .out = baseline_}, memory.console()), kOk) << memory.err();
  }

  std::string write(const std::string& name, std::string_view text) const {
    std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  CheckGateOptions options(const std::string& file) const {
    return {.file = file, .baseline = baseline_, .limits = limits_};
  }
  // Without the temporary folder.
  std::string told(const MemoryConsole& memory) const {
    std::string out = memory.out();
    const std::string folder = folder_.string() + "/";
    for (std::size_t at; (at = out.find(folder)) != std::string::npos;) out.erase(at, folder.size());
    return out;
  }

  std::string before_ = drawn("before", read("test/golden/compare/before.drawing"));
  std::string after_ = drawn("after", read("test/golden/compare/after.drawing"));
  std::string limits_ = write("limits.toml", R"([[limit]]
hard = "5 %"

[[limit]]
name = "each <method>"
method = "com.acme.*"
soft = "1 %"
ignore_below = "0 %"

[[limit]]
context = ["Catalog.add", "HashMap.resize"]
metric = "calls"
hard = 10
)");
  std::string baseline_ = (folder_ / "baseline.txt").string();
};

TEST_F(GateCommand, BaselineIsText) {
  expect_golden("baseline", read(baseline_));
  EXPECT_EQ(baseline({.file = before_, .limits = limits_}, memory_.console()), kOk);
  EXPECT_EQ(memory_.out(), read(baseline_)) << "to stdout";
}

TEST_F(GateCommand, TheSameRecordingPasses) {
  // "at most 10" does not ask the baseline; 9 are fine.
  EXPECT_EQ(check_gate(options(before_), memory_.console()), kOk);
  expect_golden("passed", told(memory_));
}

TEST_F(GateCommand, ARegressionIsToldToEveryReader) {
  CheckGateOptions all = options(after_);
  all.markdown = (folder_ / "out.md").string();
  all.junit = (folder_ / "out.xml").string();
  EXPECT_EQ(check_gate(all, memory_.console()), kRegression);
  EXPECT_THAT(memory_.err(), IsEmpty());
  expect_golden("regression", told(memory_));
  expect_golden("regression_markdown", read(all.markdown));
  expect_golden("regression_junit", read(all.junit));
  MemoryConsole json;
  all = options(after_);
  all.json = true;
  EXPECT_EQ(check_gate(all, json.console()), kRegression);
  expect_golden("regression_json", told(json));
  EXPECT_EQ(nlohmann::json::parse(json.out())["findings"][0]["limit"], 0);
}

TEST_F(GateCommand, ExplainsWhatIsWrong) {
  CheckGateOptions wrong = options(before_);
  wrong.baseline = "/no/such.txt";
  EXPECT_EQ(check_gate(wrong, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("/no/such.txt: cannot be read"), HasSubstr("sonde baseline")));
  wrong = options(before_);
  wrong.baseline = limits_;
  EXPECT_EQ(check_gate(wrong, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("limits.toml: line 1: is not a baseline"));
  wrong = options(before_);
  wrong.limits = write("bad.toml", "[[limit]]\nhard = maybe\n");
  EXPECT_EQ(check_gate(wrong, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("bad.toml: line 2, column 8: "));
  wrong = options(before_);
  wrong.junit = "/no/such/folder/x.xml";
  EXPECT_EQ(check_gate(wrong, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("/no/such/folder/x.xml: cannot write"));
}

TEST_F(GateCommand, ARecordingThatIsNotCompleteIsNoBaseline) {
  arena::TestArena arena("thread main\n  A.a()V 1 10\n");
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
  arena.header().pid = 0;
  EXPECT_EQ(baseline({.file = live_folder("killed", arena)}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("is not complete"));
  EXPECT_THAT(memory_.out(), IsEmpty());
}

}  // namespace
}  // namespace sonde::cli
