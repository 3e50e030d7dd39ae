// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/memory_console.h"

namespace sonde::cli {
namespace {

using profile::MethodId;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kSecond = 1'000'000'000;

// One thread with main, which calls a hot and a cold method.
profile::Profile recorded(std::uint64_t hot_ns, std::uint64_t cold_ns) {
  profile::Profile profile;
  profile.recording.command = "java app.Main";
  profile.recording.pid = 17;
  profile.classes.emplace_back().name = "app/Main";
  for (const char* name : {"main", "hot", "cold"}) {
    profile::Method& method = profile.methods.emplace_back();
    method.cls = profile::ClassId(1);
    method.name = name;
    method.descriptor = "()V";
  }
  const auto add = [&](std::uint32_t depth, std::uint32_t method, std::uint64_t cpu_ns) {
    profile::Amounts self;
    self.of(profile::Metric::kCpuNs) = cpu_ns;
    self.of(profile::Metric::kSamples) = cpu_ns == 0 ? 0 : 1;
    profile.tree.push(depth, MethodId(method), 0, self);
  };
  add(0, 0, 0);
  add(1, 1, 0);
  add(2, 2, hot_ns);
  add(2, 3, cold_ns);
  EXPECT_TRUE(profile.tree.seal().ok());
  profile.threads.emplace_back().name = "main";
  EXPECT_TRUE(profile.assign_threads().ok());
  return profile;
}

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

class TopViewTest : public testing::Test {
 protected:
  [[nodiscard]] std::string screen(std::size_t height = 20) const {
    return view_.screen(console_.console(), height, "cpu", "");
  }
  MemoryConsole console_;
  TopView view_;
};

TEST_F(TopViewTest, ShowsWhatHappenedSinceTheLastLook) {
  view_.look(recorded(kSecond, 9 * kSecond), 1 * kSecond);
  view_.look(recorded(2 * kSecond, 9 * kSecond), 3 * kSecond);
  const std::string text = screen();
  EXPECT_THAT(text, HasSubstr("50.0 %  18.2 %"));  // half a core in two seconds; 2 of 11 seconds in all
  EXPECT_LT(text.find("app.Main.hot"), text.find("app.Main.cold"));
}

TEST_F(TopViewTest, SortsByWhatIsChosen) {
  view_.look(recorded(kSecond, 9 * kSecond), 1 * kSecond);
  view_.look(recorded(2 * kSecond, 9 * kSecond), 2 * kSecond);
  view_.next_sort();
  EXPECT_LT(screen().find("app.Main.cold"), screen().find("app.Main.hot"));
  view_.next_sort();
  EXPECT_LT(screen().find("app.Main.main"), screen().find("app.Main.cold"));
}

TEST_F(TopViewTest, GroupsByThread) {
  for (int i = 0; i < 3; ++i) view_.next_grouping();
  view_.look(recorded(kSecond, kSecond), kSecond);
  EXPECT_THAT(screen(), HasSubstr("by thread"));
  EXPECT_THAT(screen(), Not(HasSubstr("app.Main.hot")));
}

TEST_F(TopViewTest, GoesThroughTheMetricsThatThereAre) {
  view_.look(recorded(kSecond, kSecond), kSecond);
  EXPECT_THAT(screen(), HasSubstr("cpu_ns"));
  view_.next_metric();
  view_.look(recorded(kSecond, kSecond), 2 * kSecond);
  EXPECT_THAT(screen(), HasSubstr("2 samples"));
}

TEST_F(TopViewTest, FillsTheScreenAndNoMore) {
  view_.look(recorded(kSecond, kSecond), kSecond);
  for (const std::size_t height : {3, 8, 40}) EXPECT_EQ(lines_in(screen(height)), height);
}

TEST_F(TopViewTest, SaysSomethingOfAnEmptyRecording) {
  view_.look(profile::Profile(), kSecond);
  view_.next_metric();
  EXPECT_EQ(lines_in(screen()), 20U);
}

}  // namespace
}  // namespace sonde::cli
