// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profile/merged_tree.h"
#include "profile/path_hash.h"
#include "profile/places.h"
#include "profile/sums.h"
#include "profile/test_profile.h"

namespace sonde::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::string> rows(const Profile& profile, Grouping grouping) {
  std::vector<std::string> lines;
  const auto threads = profile.all_threads();
  for (const SumRow& row : sums_by(profile, threads, grouping)) {
    const std::string place = row.name.empty() ? place_name(profile, row) : row.name;
    const std::string callee = grouping == Grouping::kCallsite ? " -> " + profile.display_name(row.method) : "";
    lines.push_back(place + callee + " self " + std::to_string(row.sum.self.of(Metric::kBytecodes)) + " total " +
                    std::to_string(row.sum.total.of(Metric::kBytecodes)) + " calls " +
                    std::to_string(row.sum.self.of(Metric::kCalls)));
  }
  return lines;
}

TEST(CallTree, ColumnsAreAsLongAsTheTreeWhateverFollows) {
  CallTree tree;
  tree.push_root();
  tree.push(1, MethodId(1), 0, Amounts{{Metric::kSamples, 5}});
  tree.activations = {0, 3};
  tree.push_root();
  tree.push(1, MethodId(1), 0, Amounts{{Metric::kCalls, 7}});
  ASSERT_TRUE(tree.seal().ok());
  EXPECT_EQ(tree.activations, (std::vector<std::uint64_t>{0, 3, 0, 0}));
  EXPECT_EQ(tree.values(Metric::kSamples).size(), tree.size());
}

TEST(Ingest, GivesBackWhatWasDrawn) {
  const std::string drawing = R"(thread main
  App.main([Ljava/lang/String;)V 1 20
    App.get()I 3 9 @12
    App.run()V 2 14 @12
      App.get()I 4 12 @30
      App.other()V 1 3 @30
    App.get()I 5 15 @13
thread worker
  Worker.run()V 1 100
)";
  EXPECT_EQ(text_of(drawn_profile(drawing)), drawing);
}

TEST(Ingest, KnowsLeavesSinglePathsAndNatives) {
  const Profile profile = drawn_profile(R"(
thread main
  App.main()V 1 20
    App.get()I 3 9 @12 leaf path=3
    App.early()I 3 8 @13 leaf path=3
    App.run()V 2 14 @14 path=7
    java/lang/Thread.sleep0(J)V 1 0 @15 native
      App.callback()V 1 5
)");
  EXPECT_EQ(text_of(profile), R"(thread main
  App.main()V 1 20
    App.get()I 3 9 @12
    App.early()I 3 8 @13
    App.run()V 2 14 @14
    java/lang/Thread.sleep0(J)V 1 0 @15
      App.callback()V 1 5
)");
  const auto native = std::find_if(profile.methods.begin(), profile.methods.end(),
                                   [](const Method& m) { return m.kind == MethodKind::kNative; });
  ASSERT_NE(native, profile.methods.end());
  EXPECT_EQ(native->name, "sleep0");
  EXPECT_TRUE(profile.class_of(*native).is_jdk);
  EXPECT_EQ(profile.class_of(MethodId(1)).source_file, "App.java");
}

TEST(Ingest, NamesThreadsOverflowAndRecording) {
  const Profile profile =
      drawn_profile("thread w-1 + w-2 + w-3\n  A.a()V 1 1\n  overflow 5 7\nthread \n  A.a()V 1 1\n");
  EXPECT_EQ(text_of(profile),
            "thread w-1 (and 2 more)\n  A.a()V 1 1\n  [overflow] 5 7\nthread (unnamed)\n  A.a()V 1 1\n");
  EXPECT_EQ(profile.recording.mode, "exact");
  EXPECT_EQ(profile.recording.jdk, "17.0.21+9");
  EXPECT_EQ(profile.recording.state, State::kEnded);
}

TEST(CallTree, SubtreesAreRanges) {
  const Profile profile =
      drawn_profile("thread t\n  A.a()V 1 1\n    A.b()V 1 1\n    A.c()V 1 1\nthread u\n  A.d()V 1 1\n");
  EXPECT_THAT(profile.tree.end, ElementsAre(4, 4, 3, 4, 6, 6));
  EXPECT_EQ(profile.threads[1].first_node, 4u);
  CallTree bad;
  bad.push(0, kRootMethod, 0);
  bad.push(2, kRootMethod, 0);
  EXPECT_FALSE(bad.seal().ok());
}

constexpr const char* kRecursive = R"(
thread main
  p/A.a()V 1 10
    p/A.b()V 2 20 @5
      p/A.a()V 3 30 @6
        q/B.c()V 4 40 @7
    q/B.c()V 5 50 @5
thread other
  q/B.c()V 6 60
)";

TEST(Sums, CountRecursionOnce) {
  const Profile profile = drawn_profile(kRecursive);
  EXPECT_THAT(rows(profile, Grouping::kMethod),
              UnorderedElementsAre("p.A.a self 40 total 150 calls 4", "p.A.b self 20 total 90 calls 2",
                                   "q.B.c self 150 total 150 calls 15"));
  EXPECT_THAT(rows(profile, Grouping::kClass),
              UnorderedElementsAre("p.A self 60 total 150 calls 6", "q.B self 150 total 150 calls 15"));
  EXPECT_THAT(rows(profile, Grouping::kPackage),
              UnorderedElementsAre("p self 60 total 150 calls 6", "q self 150 total 150 calls 15"));
  EXPECT_THAT(rows(profile, Grouping::kThread),
              UnorderedElementsAre("main self 150 total 150 calls 15", "other self 60 total 60 calls 6"));
  EXPECT_THAT(rows(profile, Grouping::kLine), UnorderedElementsAre("p.A.a (A.java:5) self 70 total 140 calls 7",
                                                                   "p.A.b (A.java:6) self 30 total 70 calls 3",
                                                                   "p.A.a (A.java:7) self 40 total 40 calls 4"));
  EXPECT_THAT(rows(profile, Grouping::kCallsite),
              UnorderedElementsAre("p.A.a (A.java:5) -> p.A.b self 20 total 90 calls 2",
                                   "p.A.a (A.java:5) -> q.B.c self 50 total 50 calls 5",
                                   "p.A.b (A.java:6) -> p.A.a self 30 total 70 calls 3",
                                   "p.A.a (A.java:7) -> q.B.c self 40 total 40 calls 4"));
  const std::vector<Sum> sums = sums_by_method(profile);
  EXPECT_EQ(sums[0].total.of(Metric::kBytecodes), 210u) << "the root";
}

std::string merged(const Profile& profile, Labels& labels) {
  std::string text;
  merge(profile, profile.all_threads(), labels, [&](const MergedNode& node) {
    text += std::string(2 * node.depth, ' ') + labels.text(node.label) + " " +
            std::to_string(node.self.of(Metric::kCalls)) + " " + std::to_string(node.self.of(Metric::kBytecodes));
    if (node.hidden.of(Metric::kCalls) != 0) text += " hidden " + std::to_string(node.hidden.of(Metric::kBytecodes));
    text += "\n";
  });
  return text;
}

TEST(Merge, SumsOverCallSitesAndThreadsInTheOrderOfNames) {
  const Profile profile = drawn_profile(R"(
thread t
  A.a()V 1 10
    A.z()V 1 1 @2
    A.b()V 2 20 @3
      A.d()V 1 1
    A.b()V 3 30 @4
      A.c()V 1 1
thread u
  A.a()V 1 10
    A.b()V 4 40 @4
)");
  Labels labels(profile, [&](MethodId id) { return profile.full_name(id); });
  EXPECT_EQ(merged(profile, labels), R"(A.a()V 2 20
  A.b()V 9 90
    A.c()V 1 1
    A.d()V 1 1
  A.z()V 1 1
)");
}

TEST(Merge, HiddenMethodsBelongToTheTotalOfTheirCaller) {
  const Profile profile = drawn_profile(kRecursive);
  Labels labels(profile, [&](MethodId id) { return profile.display_name(id); });
  for (std::uint32_t i = 0; i < profile.methods.size(); ++i) {
    if (profile.methods[i].name == "b") labels.hide(MethodId(i));
  }
  EXPECT_EQ(merged(profile, labels), "p.A.a 1 10 hidden 20\n  p.A.a 3 30\n    q.B.c 4 40\n  q.B.c 5 50\nq.B.c 6 60\n");
  const MergedTree tree = merged_tree(profile, profile.all_threads(), labels);
  EXPECT_THAT(tree.children(MergedTree::kNone, Metric::kBytecodes), ElementsAre(0, 4));
  EXPECT_EQ(tree.nodes[0].sum.total.of(Metric::kBytecodes), 150u);
  EXPECT_THAT(tree.children(0, Metric::kBytecodes), ElementsAre(1, 3));
}

TEST(PathHash, DependsOnNamesOnly) {
  const Profile one = drawn_profile("thread t\n  A.a()V 1 1\n    A.b()V 1 1 @2\n    A.c()V 1 1 @3\n");
  const Profile two = drawn_profile("thread u\n  Z.z()V 1 1\n  A.a()V 9 9\n    A.c()V 1 1 @8\n    A.b()V 1 1 @9\n");
  const auto h1 = path_hashes(one);
  const auto h2 = path_hashes(two);
  EXPECT_THAT(h1, ElementsAre(kRootPathHash, h2[2], h2[4], h2[3]));
  EXPECT_EQ(path_hash(path_hash(kRootPathHash, "A.a()V"), "A.b()V"), h1[2]);
  EXPECT_NE(path_hash(path_hash(kRootPathHash, "A.b()V"), "A.a()V"), h1[2]);
  EXPECT_EQ(path_hash(kRootPathHash, "A.a()V"), 0x8e6d9eb0aa9b3f31ULL) << "this number is for ever";
}

TEST(Names, AreReadable) {
  EXPECT_EQ(parameter_list("(Ljava/lang/Object;[[IJ)V"), "(Object, int[][], long)");
  EXPECT_EQ(parameter_list("()V"), "()");
  for (const char* odd : {"", "x", "(", "(L", "([", "(Q)V", "(I"}) EXPECT_EQ(parameter_list(odd), odd);
  EXPECT_EQ(package_of("java/util/Map"), "java.util");
  EXPECT_EQ(package_of("App"), "");
}

TEST(DeepRecursion, IsNoProblem) {
  arena::DrawnThread thread{.names = {"main"}};
  constexpr std::uint32_t kDepth = 300'000;
  for (std::uint32_t depth = 1; depth <= kDepth; ++depth) {
    thread.calls.push_back({.depth = depth, .method = "A.a()V", .calls = 1, .bytecodes = 2, .site = "7"});
  }
  const arena::TestArena arena(std::vector{thread});
  const auto reader = arena::Reader::over(arena.bytes());
  const Profile profile = ingest(*reader).value();
  EXPECT_EQ(profile.tree.size(), kDepth + 1);
  EXPECT_EQ(sums_by_method(profile)[1].total.of(Metric::kBytecodes), 2 * kDepth);
  Labels labels(profile, [&](MethodId id) { return profile.display_name(id); });
  EXPECT_EQ(merged_tree(profile, profile.all_threads(), labels).nodes.size(), kDepth);
  EXPECT_EQ(path_hashes(profile).size(), kDepth + 1);
}

}  // namespace
}  // namespace sonde::profile
