// SPDX-License-Identifier: Apache-2.0
#include "cli/hot_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arena/test_arena.h"
#include "cli/memory_console.h"

namespace sonde::cli {
namespace {

using arena::SampleTreeKind;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDrawing = "thread main\n  app/Main.main()V 1 10\n    app/Main.work()V 1 10\n";

std::uint32_t id_of(const arena::Reader& reader, std::string_view name) {
  for (const arena::MethodEntry& method : reader.methods()) {
    if (method.name == name) return method.id;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(HotView, ShowsMethodsAndCallsOfTheTables) {
  arena::TestArena arena(kDrawing);
  const arena::Reader before = arena::Reader::over(arena.bytes()).value();
  const std::uint64_t main = id_of(before, "main");
  const std::uint64_t work = id_of(before, "work");
  arena.add_hot(
      {{.key = work, .samples = 30, .weight_ns = 0}, {.key = main, .samples = 10, .weight_ns = 0}},
      {{.key = main << 32 | work, .samples = 6, .weight_ns = 0}, {.key = main, .samples = 2, .weight_ns = 0}});
  const arena::Reader reader = arena::Reader::over(arena.bytes()).value();
  const MemoryConsole console;
  const std::string text = hot_screen(reader, SampleTreeKind::kCpu, console.console(), 12);
  EXPECT_THAT(text, HasSubstr("40 samples of CPU time"));
  EXPECT_THAT(text, HasSubstr("75.0 %       30  app.Main.work\n"));
  EXPECT_THAT(text, HasSubstr("75.0 %     6  app.Main.main -> app.Main.work\n"));
  EXPECT_THAT(text, HasSubstr("25.0 %     2  (thread) -> app.Main.main\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 12);
  EXPECT_THAT(hot_screen(reader, SampleTreeKind::kWall, console.console(), 12), Not(HasSubstr("app.Main.")));
}

TEST(HotView, SaysSomethingOfARecordingWithoutSamples) {
  const arena::TestArena arena(kDrawing);
  const MemoryConsole console;
  for (const std::size_t height : {1, 3, 30}) {
    const std::string text =
        hot_screen(arena::Reader::over(arena.bytes()).value(), SampleTreeKind::kCpu, console.console(), height);
    EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(height));
  }
}

}  // namespace
}  // namespace sonde::cli
