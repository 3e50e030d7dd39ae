// SPDX-License-Identifier: Apache-2.0
#include "gate/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/match.h"

namespace sonde::gate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Limits, AreReadFromToml) {
  const auto limits = parse_limits(R"(
# the gate of the shop
[[limit]]
hard = "1 %"
soft = "+0.25%"

[[limit]]
name = "the cart"
method = "com.acme.shop.Cart.*"
metric = "calls"
hard = "+10"
ignore_below = "0.5 %"

[[limit]]
context = ["Main.main", "HashMap.resize"]
of = "self"
soft = 9_000

[[allow]]
thread = "ForkJoinPool*"
reason = "work stealing"
)");
  ASSERT_TRUE(limits.ok()) << limits.error().to_string();
  ASSERT_EQ(limits->limits.size(), 3u);
  const Limit& whole = limits->limits[0];
  EXPECT_EQ(whole.hard->text(), "+1 %");
  EXPECT_EQ(whole.soft->text(), "+0.25 %");
  EXPECT_EQ(whole.metric, std::nullopt);
  EXPECT_EQ(whole.of, Of::kTotal);
  const Limit& cart = limits->limits[1];
  EXPECT_EQ(cart.name, "the cart");
  EXPECT_EQ(cart.metric, profile::Metric::kCalls);
  EXPECT_EQ(cart.hard->text(), "+10");
  EXPECT_EQ(cart.of, Of::kSelf) << "a method answers for what it does itself";
  EXPECT_DOUBLE_EQ(cart.ignore_below, 0.5);
  const Limit& context = limits->limits[2];
  EXPECT_THAT(context.context, ElementsAre("Main.main", "HashMap.resize"));
  EXPECT_EQ(context.soft->text(), "at most 9000");
  EXPECT_EQ(context.of, Of::kSelf);
  ASSERT_EQ(limits->allowed.size(), 1u);
  EXPECT_EQ(limits->allowed[0].thread, "ForkJoinPool*");
}

TEST(Limits, ErrorsNameLineAndColumn) {
  const auto error = [](std::string_view toml) {
    const auto limits = parse_limits(toml);
    return limits.ok() ? "none" : limits.error().to_string();
  };
  EXPECT_THAT(error("[[limit]]\nhard = \"1 %\"\nsort = 3\n"),
              testing::AllOf(HasSubstr("line 3, column 1"), HasSubstr("`sort` is none of name")));
  EXPECT_THAT(error("[[limit]]\nhard = \"much\"\n"),
              testing::AllOf(HasSubstr("line 2, column 8"), HasSubstr("\"N %\"")));
  EXPECT_THAT(error("[[[limit[limit]]\n"), HasSubstr("line 1, column 3"));
  EXPECT_THAT(error("[[limit]]\nhard = 2Л\n"), HasSubstr("line 2, column 9"));
  EXPECT_THAT(error("[[limit]]\nhard = -5\n"), HasSubstr("line 2, column 8"));
  EXPECT_THAT(error("[[limit]]\nhard = \"-5 %\"\n"), HasSubstr("line 2, column 8"));
  EXPECT_THAT(error("[[limit]]\nhard = \"1e9 %\"\n"), HasSubstr("line 2, column 8"));
  EXPECT_THAT(error("[[limit]]\nmethod = \"A\"\n"), HasSubstr("needs `soft` or `hard`"));
  EXPECT_THAT(error("[[limit]]\nmethod = \"A\"\ncontext = [\"B\"]\nhard = 1\n"), HasSubstr("not on both"));
  EXPECT_THAT(error("[[limit]]\ncontext = [3]\nhard = 1\n"), HasSubstr("line 2, column 12"));
  EXPECT_THAT(error("[[limit]]\nmetric = \"seconds\"\nhard = 1\n"), HasSubstr("`seconds` is no metric"));
  EXPECT_THAT(error("[limit]\nhard = 1\n"), HasSubstr("write [[limit]]"));
  EXPECT_THAT(error("[[allow]]\nreason = \"why\"\n"), HasSubstr("needs `thread` or `method`"));
  EXPECT_THAT(error("[[limit]\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("hard = \"1\nx"), HasSubstr("line 1"));
  EXPECT_EQ(error(""), "none");
}

TEST(Limits, StringsAndCommentsMayHaveAnyCharacter) {
  const auto limits = parse_limits(R"toml(
      # größer
      [[limit]]
      name = "a \" größer"
      method = 'café.*'
      hard = 1
      [[limit]]
      name = """
"ö"
"""
      method = 'A'
      hard = 1
      )toml");
  ASSERT_TRUE(limits.ok()) << limits.error().to_string();
  EXPECT_EQ(limits->limits[0].name, "a \" größer");
  EXPECT_EQ(limits->limits[1].name, "\"ö\"\n");
}

TEST(Bound, SaysHowMuchIsTooMuch) {
  EXPECT_DOUBLE_EQ((Bound{.kind = Bound::Kind::kAtMost, .value = 7}.greatest(1000)), 7);
  EXPECT_DOUBLE_EQ((Bound{.kind = Bound::Kind::kGrowth, .value = 7}.greatest(1000)), 1007);
  EXPECT_DOUBLE_EQ((Bound{.kind = Bound::Kind::kRelative, .value = 1}.greatest(1000)), 1010);
}

TEST(Paths, MatchTheLastFrameAndOthersInOrder) {
  const std::vector<std::string_view> frames = {"a/Main.main()V", "a/Shop.run(I)V", "java/util/Map.get(I)V"};
  const auto matches = [&](std::vector<std::string> patterns) { return path_matches(patterns, frames); };
  EXPECT_TRUE(matches({"Map.get"}));
  EXPECT_TRUE(matches({"Main.main", "Map.get"}));
  EXPECT_TRUE(matches({"Main.main", "a.*", "java.util.*"}));
  EXPECT_FALSE(matches({"a.*", "Main.main", "Map.get"})) << "another order";
  EXPECT_FALSE(matches({"Main.main", "Shop.run"})) << "not the last";
  EXPECT_FALSE(matches({"Map.get", "Map.get"})) << "a frame matches once";
  EXPECT_FALSE(matches({}));
  EXPECT_EQ(display_name(frames[2]), "java.util.Map.get");
  EXPECT_EQ(display_name("[folded]"), "[folded]");
}

}  // namespace
}  // namespace sonde::gate
