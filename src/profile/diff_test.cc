// SPDX-License-Identifier: Apache-2.0
#include "profile/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace sonde::profile {
namespace {

using ::testing::ElementsAre;

struct Drawn {
  Profile a;
  Profile b;
  std::vector<Labels> labels;
  DiffTree tree;

  Drawn(std::string_view drawing_a, std::string_view drawing_b)
      : a(drawn_profile(drawing_a)),
        b(drawn_profile(drawing_b)),
        labels(Labels::joint({full_names(a), full_names(b)})),
        tree(merged_tree(a, a.all_threads(), labels[0]), merged_tree(b, b.all_threads(), labels[1])) {}

  static std::vector<std::string> full_names(const Profile& profile) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < profile.methods.size(); ++i) names.push_back(profile.full_name(MethodId(i)));
    return names;
  }
  // "A.a()V 10 -> 12 (20 -> 22)": self and total
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const DiffTree::Node& node : tree.nodes) {
      const auto of = [](std::uint64_t x, std::uint64_t y) { return std::to_string(x) + " -> " + std::to_string(y); };
      text += std::string(2 * node.depth, ' ') + labels[0].text(node.label) + " " +
              of(node.a.self.of(Metric::kBytecodes), node.b.self.of(Metric::kBytecodes)) + " (" +
              of(node.a.total.of(Metric::kBytecodes), node.b.total.of(Metric::kBytecodes)) + ")\n";
    }
    return text;
  }
  [[nodiscard]] std::vector<std::string> path(const Comparison& comparison) const {
    std::vector<std::string> names;
    for (const std::uint32_t node : path_of_change(tree, comparison).nodes) {
      names.push_back(labels[0].text(tree.nodes[node].label));
    }
    return names;
  }
};

Amounts counted(std::uint64_t calls, std::uint64_t bytecodes) {
  return {{Metric::kCalls, calls}, {Metric::kBytecodes, bytecodes}};
}

TEST(DiffTree, HasTheContextsOfBoth) {
  const Drawn diff(R"(
thread t
  A.main()V 1 10
    A.b()V 1 5 @1
      A.x()V 1 1
        A.y()V 1 1
    A.d()V 1 7 @2
  A.z()V 1 3
)",
                   R"(
thread u
  A.init()V 1 2
    A.b()V 1 1
  A.main()V 1 12
    A.a()V 1 1 @1
      A.q()V 1 1
    A.b()V 1 5 @4
      A.w()V 1 9
    A.d()V 1 8 @5
      A.e()V 1 4
)");
  EXPECT_EQ(diff.text(), R"(A.init()V 0 -> 2 (0 -> 3)
  A.b()V 0 -> 1 (0 -> 1)
A.main()V 10 -> 12 (24 -> 40)
  A.a()V 0 -> 1 (0 -> 2)
    A.q()V 0 -> 1 (0 -> 1)
  A.b()V 5 -> 5 (7 -> 14)
    A.w()V 0 -> 9 (0 -> 9)
    A.x()V 1 -> 0 (2 -> 0)
      A.y()V 1 -> 0 (1 -> 0)
  A.d()V 7 -> 8 (7 -> 12)
    A.e()V 0 -> 4 (0 -> 4)
A.z()V 3 -> 0 (3 -> 0)
)");
  EXPECT_EQ(diff.tree.nodes[2].end, 11u);
}

constexpr const char* kBefore = R"(
thread t
  A.main()V 1 10
    A.load()V 1 100
      A.read()V 10 1000
    A.sort()V 1 50
      A.swap()V 99 5000
      A.less()V 99 3000
)";

TEST(PathOfChange, EndsWhereTheChangeBranches) {
  const Drawn diff(kBefore, R"(
thread t
  A.main()V 1 10
    A.load()V 1 101
      A.read()V 10 1000
    A.sort()V 1 50
      A.swap()V 199 10000
      A.less()V 199 6000
)");
  EXPECT_THAT(diff.path({}), ElementsAre("A.main()V", "A.sort()V", "A.swap()V")) << "5000 of 8000";
  EXPECT_DOUBLE_EQ(path_of_change(diff.tree, {}).share, 5000.0 / 8001);
  EXPECT_THAT(diff.path({.metric = Metric::kCalls}), ElementsAre("A.main()V", "A.sort()V", "A.less()V"))
      << "the first of two halves";
}

TEST(PathOfChange, SeesWorkThatMovedWithoutGrowing) {
  const Drawn diff(kBefore, R"(
thread t
  A.main()V 1 10
    A.load()V 1 100
      A.read()V 10 1000
    A.sort()V 1 3050
      A.swap()V 99 5000
)");
  EXPECT_THAT(diff.path({}), ElementsAre("A.main()V", "A.sort()V", "A.less()V"));
  EXPECT_TRUE(Drawn(kBefore, kBefore).path({}).empty());
}

TEST(PathOfChange, OfSharesIgnoresThatAllGrew) {
  const Drawn twice("thread t\n  A.a()V 1 10\n  A.b()V 1 30\n", "thread t\n  A.a()V 1 20\n  A.b()V 1 60\n");
  EXPECT_THAT(twice.path({.whole_a = counted(2, 40), .whole_b = counted(2, 80), .is_normalised = true}), ElementsAre());
  EXPECT_THAT(twice.path({.whole_a = counted(2, 40), .whole_b = counted(2, 80)}), ElementsAre("A.b()V"));
}

TEST(DiffBy, JoinsByName) {
  const Drawn diff("thread t\n  p/A.a()V 1 10\n    p/A.a(I)V 2 20\n", "thread t\n  q/B.b()V 1 1\n  p/A.a(I)V 1 25\n");
  std::vector<std::string> lines;
  for (const DiffRow& row :
       diff_by({diff.a, diff.a.all_threads()}, {diff.b, diff.b.all_threads()}, Grouping::kMethod)) {
    lines.push_back(row.name + " " + std::to_string(row.a.self.of(Metric::kBytecodes)) + " " +
                    std::to_string(row.b.self.of(Metric::kBytecodes)) + (row.in_a ? " a" : "") +
                    (row.in_b ? " b" : ""));
  }
  EXPECT_THAT(lines, ElementsAre("p/A.a()V 10 0 a", "p/A.a(I)V 20 25 a b", "q/B.b()V 0 1 b"));
  const auto packages = diff_by({diff.a, diff.a.all_threads()}, {diff.b, diff.b.all_threads()}, Grouping::kPackage);
  ASSERT_EQ(packages.size(), 2u);
  EXPECT_EQ(packages[0].name, "p");
  EXPECT_EQ(packages[0].a.total.of(Metric::kBytecodes), 30u);
}

TEST(Comparison, ExactNumbersDifferOrAreEqual) {
  const Comparison exact;
  EXPECT_TRUE(exact.is_significant(counted(0, 1'000'000'000), counted(0, 1'000'000'001)));
  EXPECT_FALSE(exact.is_significant(counted(0, 5), counted(1, 5)));
  EXPECT_EQ(exact.change(counted(0, ~std::uint64_t{0}), counted(0, ~std::uint64_t{0} - 1)), -1) << "to the last digit";
}

TEST(Comparison, SamplesNeedEnoughOfThem) {
  // Calls stand for samples here: what counts is which metric is said to count events.
  const Comparison samples{.whole_a = counted(1000, 1),
                           .whole_b = counted(1000, 1),
                           .events_a = Events{Metric::kCalls},
                           .events_b = Events{Metric::kCalls}};
  EXPECT_FALSE(samples.is_significant(counted(100, 0), counted(110, 9999))) << "bytecodes are estimated from events";
  EXPECT_TRUE(samples.is_significant(counted(100, 0), counted(160, 0)));
  EXPECT_FALSE(samples.is_significant(counted(0, 0), counted(3, 0))) << "so few say nothing";
  EXPECT_TRUE(samples.is_significant(counted(0, 0), counted(12, 0)));
  // 80 against 100 heads of 180 throws: z = (10 - 0.5) / sqrt(45)
  EXPECT_NEAR(split_p_value(80, 100, 0.5), 0.1567, 0.0001);
  EXPECT_EQ(split_p_value(0, 0, 0.5), 1);
  // Twice as many samples in all: twice as many here are no change of the share.
  const Comparison shares{.whole_a = counted(1000, 1),
                          .whole_b = counted(2000, 1),
                          .is_normalised = true,
                          .events_a = Events{Metric::kCalls},
                          .events_b = Events{Metric::kCalls}};
  EXPECT_FALSE(shares.is_significant(counted(100, 0), counted(200, 0)));
  EXPECT_TRUE(shares.is_significant(counted(100, 0), counted(100, 0)));
}

TEST(Comparison, TimeIsAsManyEventsAsThereAreIntervals) {
  const Events rare{.metric = Metric::kWallNs, .size = 10'000'000};
  const auto wall = [](std::uint64_t milliseconds) { return Amounts{{Metric::kWallNs, milliseconds * 1'000'000}}; };
  const Comparison comparison{.metric = Metric::kWallNs, .events_a = rare, .events_b = rare};
  EXPECT_FALSE(comparison.is_significant(wall(100), wall(150))) << "10 samples and 15";
  EXPECT_TRUE(comparison.is_significant(wall(1000), wall(1600)));
}

TEST(EventsBehind, AreThoseOfTheMetric) {
  Profile profile = drawn_profile("thread t\n  A.a()V 1 10\n");
  EXPECT_FALSE(events_behind(profile, Metric::kBytecodes).has_value());
  profile.tree.column(Metric::kWallNs).back() = 20'000'000;
  profile.recording.time_sampling.wall_interval_ns = 5'000'000;
  EXPECT_EQ(events_behind(profile, Metric::kWallNs)->size, 5'000'000u)
      << "also in a recording that counts exactly, too";
  profile.tree.column(Metric::kSamples).back() = 7;
  EXPECT_EQ(events_behind(profile, Metric::kCpuNs)->metric, Metric::kSamples);
  profile.recording.mode = "bytecode";
  EXPECT_EQ(events_behind(profile, Metric::kBytecodes)->metric, Metric::kSamples);
}

}  // namespace
}  // namespace sonde::profile
