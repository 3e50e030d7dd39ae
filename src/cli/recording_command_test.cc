// SPDX-License-Identifier: Apache-2.0
// Reports of drawn recordings (test/golden/report/*.drawing) against golden texts.
#include "cli/recording_command.h"
#include "cli/exchange_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/drawn_recordings.h"

namespace sonde::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class RecordingCommand : public DrawnRecordings {
 protected:
  RecordingCommand() : DrawnRecordings("test/golden/report") {
    arena::TestArena arena(read(goldens_ / "shop.drawing"));
    arena.header().counters[1].store(3);
    arena.header().counters[7].store(1);
    live_ = live_folder("shop", arena);
  }

  void expect_report(const std::string& golden, ReportOptions options) const {
    options.file = live_;
    MemoryConsole memory;
    EXPECT_EQ(report(options, memory.console()), kOk);
    EXPECT_THAT(memory.err(), IsEmpty());
    expect_golden(golden, memory.out());
  }

  std::string live_;
};

TEST_F(RecordingCommand, ReportsByEveryGrouping) {
  using profile::Grouping;
  expect_report("method", {});
  expect_report("method_calls_top_5", {.top = 5, .metric = profile::Metric::kCalls});
  expect_report("class", {.by = Grouping::kClass});
  expect_report("package_total", {.by = Grouping::kPackage, .sort = SortBy::kTotal});
  expect_report("thread", {.by = Grouping::kThread});
  expect_report("line", {.by = Grouping::kLine});
  expect_report("callsite", {.by = Grouping::kCallsite});
}

TEST_F(RecordingCommand, ReportsChosenMethodsAndThreads) {
  expect_report("include", {.include = {"com.acme.*"}, .exclude = {"Cart.total", "*.<clinit>"}});
  expect_report("worker", {.thread = "worker-*"});
  expect_report("min_percent", {.min_percent = 5});
  expect_report("nothing", {.include = {"no.such.*"}});
}

TEST_F(RecordingCommand, ReportsTrees) {
  expect_report("tree", {.tree = true});
  expect_report("tree_all", {.tree = true, .min_percent = 0});
  expect_report("tree_without_jdk", {.tree = true, .exclude = {"java.*"}, .min_percent = 0});
  expect_report("tree_calls_top_4", {.top = 4, .tree = true, .metric = profile::Metric::kCalls});
}

TEST_F(RecordingCommand, ReportsCallersAndCallees) {
  expect_report("focus", {.focus = "Cart.total"});
  expect_report("focus_top_1", {.top = 1, .focus = "com.acme.shop.Catalog"});
  MemoryConsole memory;
  EXPECT_EQ(report({.file = live_, .focus = "Nobody.knows"}, memory.console()), kFailed);
  EXPECT_THAT(memory.err(), AllOf(HasSubstr("no method of 17 matches `Nobody.knows`"), HasSubstr("--by method")));
}

TEST_F(RecordingCommand, ReportsInColoursAndToTheWidthOfATerminal) {
  MemoryConsole memory;
  Console terminal = memory.console();
  terminal.has_colours = true;
  terminal.width = 62;
  EXPECT_EQ(report({.file = live_, .top = 8}, terminal), kOk);
  EXPECT_EQ(report({.file = live_, .top = 12, .tree = true}, terminal), kOk);
  expect_golden("terminal", memory.out());
}

TEST_F(RecordingCommand, ReportsAsJson) {
  expect_report("json", {.top = 2, .json = true});
  expect_report("callsite_json", {.top = 2, .by = profile::Grouping::kCallsite, .json = true});
  expect_report("focus_json", {.focus = "Cart.total", .json = true});
  expect_report("tree_json", {.tree = true, .min_percent = 20, .json = true});
}

TEST_F(RecordingCommand, AFinishedFileGivesTheSameReport) {
  const std::string file = (folder_ / "shop.sonde").string();
  ASSERT_TRUE(store::finish(live_, file).ok());
  EXPECT_EQ(report({.file = file}, memory_.console()), kOk);
  EXPECT_EQ(memory_.out(), read(goldens_ / "method.expected"));
}

TEST_F(RecordingCommand, ReportExplainsWhatIsMissing) {
  EXPECT_EQ(report({.file = live_, .thread = "nobody"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("no thread of 2 matches `nobody`"), HasSubstr("--by thread")));
  EXPECT_EQ(report({.file = "/no/such.sonde"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("sonde: /no/such.sonde: does not exist"), HasSubstr("sonde run")));
  EXPECT_EQ(report({.file = live_, .by = profile::Grouping::kState}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("no wall-clock samples"), HasSubstr("--mode wall")));
  EXPECT_THAT(memory_.out(), IsEmpty());
}

TEST_F(RecordingCommand, ARecordingOfTimeAloneSaysNothingOfCounting) {
  arena::TestArena arena("thread main\n  A.a()V 1 10\n");
  arena.header().flags = arena::kTimeOnly | arena::kPrecise | arena::kJdkIncluded;
  arena.header().sampling.cpu_interval_ns = 1'000'000;
  EXPECT_EQ(report({.file = live_folder("time", arena)}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), AllOf(HasSubstr(", mode cpu\n"), Not(HasSubstr("precise"))));
}

TEST_F(RecordingCommand, ADamagedRecordingIsReportedWithItsDamage) {
  arena::TestArena arena("thread main\n  A.a()V 1 10\n    A.b()V 1 5\n");
  arena.at<arena::Node>(arena.nodes()[1]).parent_site = 8;
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
  arena.header().end_ns = 0;
  arena.header().pid = 0;
  EXPECT_EQ(report({.file = live_folder("killed", arena)}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(),
              AllOf(HasSubstr("State     the JVM was killed or crashed"),
                    HasSubstr("error     1 places of the arena are damaged and left out, the first: a call "
                              "site of method 2 leads to no node of it (byte "),
                    HasSubstr("Counted   10 bytecodes")));
}

TEST_F(RecordingCommand, StatusTellsStateCostAndLosses) {
  EXPECT_EQ(status({.file = live_}, memory_.console()), kOk);
  expect_golden("status", memory_.out());
  MemoryConsole json;
  EXPECT_EQ(status({.file = live_, .json = true}, json.console()), kOk);
  const auto parsed = nlohmann::json::parse(json.out());
  EXPECT_EQ(parsed["state"], "ended");
  EXPECT_EQ(parsed["contexts"], 20);
  EXPECT_EQ(parsed["counters"][0]["name"], "MethodsTooLarge");
}

TEST_F(RecordingCommand, StatusSeesThatTheJvmIsStillThere) {
  arena::TestArena arena("thread main\n  A.a()V 1 10\n");
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
  arena.header().pid = static_cast<std::uint32_t>(::getpid());
  EXPECT_EQ(status({.file = live_folder("running", arena)}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), AllOf(HasSubstr("State     still running (pid "), HasSubstr("Losses    none\n")));
}

TEST_F(RecordingCommand, ExportWritesToStdoutOrAFile) {
  EXPECT_EQ(export_recording({.file = live_, .to = ExportFormat::kCollapsed}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), StartsWith("main;com.acme.shop.Main.main 120\n"));
  EXPECT_THAT(memory_.err(), StartsWith("loss      3 methods left as they were")) << "losses are shown here too";
  const std::string file = (folder_ / "out.jsonl").string();
  MemoryConsole quiet;
  EXPECT_EQ(export_recording({.file = live_, .out = file}, quiet.console()), kOk);
  EXPECT_THAT(quiet.out(), IsEmpty());
  std::ifstream lines(file);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto context = nlohmann::json::parse(line);
    EXPECT_EQ(context.size(), 4u);
    EXPECT_FALSE(context["stack"].empty());
  }
  EXPECT_EQ(count, 20u);
  struct stat out_status = {};
  ASSERT_EQ(::stat(file.c_str(), &out_status), 0);
  EXPECT_EQ(out_status.st_mode & 0777, 0600u);
}

TEST_F(RecordingCommand, ExportExplainsWhereItCannotWrite) {
  EXPECT_EQ(export_recording({.file = live_, .out = "/no/such/folder/x"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("/no/such/folder/x: cannot write: No such file"), HasSubstr("-o")));
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  const Console console{.out = full, .err = memory_.console().err};
  EXPECT_EQ(export_recording({.file = live_}, console), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("cannot write the output: No space left"));
  std::fclose(full);
}

}  // namespace
}  // namespace sonde::cli
