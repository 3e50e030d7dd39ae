// SPDX-License-Identifier: Apache-2.0
#include "cli/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/memory_console.h"

namespace sonde::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// Until it has drawn something; it draws ten times a second.
void wait_for(const MemoryConsole& terminal, const std::string& text) {
  for (int i = 0; i < 100 && terminal.err().find(text) == std::string::npos; ++i) std::this_thread::sleep_for(50ms);
}

TEST(Activity, ShowsABarAndTakesItAway) {
  const MemoryConsole terminal;
  Activity activity(terminal.console().err, 0s);
  activity.begin("reading a.sonde", 1, 3);
  wait_for(terminal, "reading");
  EXPECT_THAT(terminal.err(), HasSubstr("[#####...............] 1/3 reading a.sonde, 0 s"));
  activity.begin("writing", 3, 3);
  activity.detail("12.0 MB");
  wait_for(terminal, "12.0 MB");
  EXPECT_THAT(terminal.err(), HasSubstr("[###############.....] 3/3 writing, 12.0 MB, "));
  activity.end();
  EXPECT_THAT(terminal.err(), EndsWith("\r\x1b[K"));
}

TEST(Activity, IsSilentForAMoment) {
  const MemoryConsole terminal;
  Activity activity(terminal.console().err, 1h);
  activity.begin("reading", 1, 1);
  std::this_thread::sleep_for(250ms);
  activity.end();
  EXPECT_EQ(terminal.err(), "");
}

TEST(Activity, IsSilentWhereThereIsNoTerminal) {
  Activity activity(nullptr, 0s);
  activity.begin("reading", 1, 1);
  activity.detail("1 MB");
  activity.end();
}

TEST(Activity, GoesBeforeAnythingIsWritten) {
  const MemoryConsole terminal;
  Activity activity(terminal.console().err, 0s);
  Console console = terminal.console();
  console.activity = &activity;
  console.doing("reading\x1b[2J", 1, 1);
  wait_for(terminal, "reading");
  EXPECT_THAT(terminal.err(), HasSubstr("reading?[2J")) << "names are not commands for the terminal";
  console.say("finished");
  EXPECT_THAT(terminal.err(), EndsWith("\r\x1b[Ksonde: finished\n"));
}

}  // namespace
}  // namespace sonde::cli
