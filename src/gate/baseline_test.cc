// SPDX-License-Identifier: Apache-2.0
#include "gate/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace sonde::gate {
namespace {

using ::testing::HasSubstr;

constexpr const char* kShop = R"(
thread main
  p/Main.main()V 1 100
    p/Main.load(I)V 1 400 @3
      p/Map.put()V 9 90 @5
      p/Map.put()V 1 10 @6
    p/Main.tiny()V 1 1 @4
      p/Map.put()V 1 1 @5
thread worker
  p/Main.load(I)V 1 398
)";

constexpr const char* kText = R"(sonde baseline 1
# Written by `sonde baseline`; `sonde check --baseline` compares a recording with it. Make it anew when a change is
# meant, and commit both together.
program App --fast
jdk 17.0.21+9
mode exact precise jdk
min-percent 1
metrics calls bytecodes
sum 15 1000

# self, total, method
methods
2 798 12 898 p/Main.load(I)V
1 100 14 602 p/Main.main()V
1 1 2 2 p/Main.tiny()V
11 101 11 101 p/Map.put()V

# self, context
contexts
1 398 p/Main.load(I)V
1 100 p/Main.main()V
  1 400 p/Main.load(I)V
    10 100 p/Map.put()V
  2 2 [folded]
)";

std::string made(std::string_view drawing, const Limits& limits, double min_percent) {
  return text_of(make_baseline(profile::drawn_profile(drawing), limits, min_percent));
}

TEST(Baseline, IsSmallTextInAnOrderOfNames) { EXPECT_EQ(made(kShop, {}, 1), kText); }

TEST(Baseline, FoldsContextsThatDoLittle) {
  EXPECT_THAT(made(kShop, {}, 50), HasSubstr("contexts\n1 100 p/Main.main()V\n  1 400 p/Main.load(I)V\n    10 100 "
                                             "[folded]\n  2 2 [folded]\n1 398 [folded]\n"));
  Limits limits;
  limits.limits.push_back({.name = {}, .context = {"Main.tiny", "Map.*"}});
  EXPECT_THAT(made(kShop, limits, 50), HasSubstr("\n  1 1 p/Main.tiny()V\n    1 1 p/Map.put()V\n"))
      << "kept for its limit";
}

TEST(Baseline, LeavesOutWhatIsKnownToVary) {
  Limits limits;
  limits.allowed = {{.thread = "work*", .method = {}, .reason = "why"},
                    {.thread = {}, .method = "Main.tiny", .reason = {}}};
  const std::string text = made(kShop, limits, 1);
  EXPECT_THAT(text, HasSubstr("\nallow thread work*\nallow method Main.tiny\n"));
  EXPECT_THAT(text, HasSubstr("\nsum 12 600\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("tiny()V")));
}

TEST(Baseline, ReadsWhatItWrote) {
  for (const double min_percent : {0.0, 1.0, 50.0}) {
    const std::string text = made(kShop, {}, min_percent);
    const auto read = parse_baseline(text);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(text_of(*read), text);
    EXPECT_EQ(read->sum.of(profile::Metric::kBytecodes), 1000u);
    EXPECT_EQ(profile::sum_of(read->contexts, read->contexts.all_threads()), read->sum);
  }
}

TEST(Baseline, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    const auto read = parse_baseline(text);
    return read.ok() ? "none" : read.error().to_string();
  };
  const auto edited = [](std::string_view from, std::string_view to) {
    std::string text = kText;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(error(""), HasSubstr("does not start with"));
  EXPECT_THAT(error("sonde baseline 2\n"), HasSubstr("a newer one is needed"));
  EXPECT_THAT(error(edited("jdk 17", "jvm 17")), testing::AllOf(HasSubstr("line 5"), HasSubstr("`jvm` is not known")));
  EXPECT_THAT(error(edited("metrics calls", "metrics hugs")), HasSubstr("`hugs` is no metric"));
  EXPECT_THAT(error(edited("sum 15 1000", "sum 15")),
              testing::AllOf(HasSubstr("line 9"), HasSubstr("a number of bytecodes")));
  EXPECT_THAT(error(edited("metrics calls bytecodes", "metrics calls calls")), HasSubstr("a second time"));
  EXPECT_THAT(error(edited("metrics calls bytecodes\n", "")), HasSubstr("`metrics` must stand before"));
  EXPECT_THAT(error(edited("sum 15 1000\n", "")), HasSubstr("`sum` is missing"));
  EXPECT_THAT(error(edited("1 398 p", "1 399 p")), HasSubstr("do not add up"));
  EXPECT_THAT(error(edited("  2 2 [folded]", "        2 2 [folded]")), HasSubstr("indented too far"));
  EXPECT_THAT(error(edited("min-percent 1", "min-percent 101")), HasSubstr("from 0 to 100"));
  EXPECT_THAT(error(edited("1 100 14 602 p/Main.main()V", "1 100 14 602")), HasSubstr("has no name"));
  EXPECT_THAT(error(std::string(kText).substr(0, std::string_view(kText).find("contexts\n"))),
              HasSubstr("ends before"));
}

TEST(Baseline, OfDeepRecursionIsStillSmall) {
  arena::DrawnThread thread{.names = {"main"}};
  constexpr std::uint32_t kDepth = 100'000;
  for (std::uint32_t depth = 1; depth <= kDepth; ++depth) {
    thread.calls.push_back({.depth = depth, .method = "A.a()V", .calls = 1, .bytecodes = 2, .site = "7"});
  }
  const arena::TestArena arena(std::vector{thread});
  const auto reader = arena::Reader::over(arena.bytes());
  const std::string text = text_of(make_baseline(profile::ingest(*reader).value(), {}, 0.1));
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_THAT(text, HasSubstr(" 99936 199872 [folded]\n"));
  EXPECT_TRUE(parse_baseline(text).ok());
}

TEST(Baseline, OfANameWithANewlineIsStillOneLine) {
  Baseline baseline;
  baseline.program = "a\nsum 1 1\nb";
  EXPECT_THAT(text_of(baseline), HasSubstr("program a?sum 1 1?b\n"));
}

}  // namespace
}  // namespace sonde::gate
