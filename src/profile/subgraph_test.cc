// SPDX-License-Identifier: Apache-2.0
// Recordings of call subgraphs: from nodes in an arena to times that are corrected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "arena/writer.h"
#include "profile/ingest.h"
#include "profile/metric.h"

namespace sonde::profile {
namespace {

using ::testing::ElementsAre;

// An arena with one tree, whose nodes are made one by one.
class SubgraphTest : public ::testing::Test {
 protected:
  SubgraphTest() : path_(std::filesystem::temp_directory_path() / ("subgraph_test-" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
    EXPECT_TRUE(arena_.create(path_.c_str(), {.capacity = 1 << 20, .address_bias = 0, .flags = kFlags}).ok());
    arena::SubgraphInfo& info = arena_.header().subgraph;
    info.time = arena::SubgraphTime::kWall;
    info.scheme = arena::SubgraphScheme::kLazy;
    info.inner_ps = 20'000;
    info.outer_ps = 30'000;
    chunk_ = reinterpret_cast<std::uint8_t*>(arena_.new_chunk(arena::ChunkKind::kTree, kTree, 1 << 16)) + 64;
    tree_ = make<arena::SubgraphTree>();
    arena::SubgraphTreeRecord record{};
    record.header = {.kind = arena::RecordKind::kSubgraphTree, .reserved = 0, .size = sizeof record};
    record.tree_id = kTree;
    record.address = arena_.address(tree_);
    arena_.append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record});
  }
  ~SubgraphTest() override { std::filesystem::remove(path_); }

  template <typename T>
  T* make() {
    auto* made = reinterpret_cast<T*>(chunk_ + used_);
    used_ += sizeof(T);
    return made;
  }

  arena::RootTimes* times_of(arena::SubgraphNode* root) { return reinterpret_cast<arena::RootTimes*>(root) - 1; }

  arena::SubgraphNode* root(std::int32_t method, std::uint64_t calls, std::uint64_t time_ns) {
    make<arena::RootTimes>();
    auto* node = make<arena::SubgraphNode>();
    fill(node, method, calls, time_ns);
    node->next_sibling = tree_->root;
    tree_->root = arena_.address(node);
    return node;
  }
  arena::SubgraphNode* callee(arena::SubgraphNode* caller, std::int32_t method, std::uint64_t calls,
                              std::uint64_t time_ns) {
    auto* node = make<arena::SubgraphNode>();
    fill(node, method, calls, time_ns);
    node->parent = arena_.address(caller);
    node->next_sibling = caller->first_child;
    caller->first_child = arena_.address(node);
    return node;
  }
  static void fill(arena::SubgraphNode* node, std::int32_t method, std::uint64_t calls, std::uint64_t time_ns) {
    node->method_id = method;
    node->calls = calls;
    node->time_ns = time_ns;
  }

  // With zeros where a metric has none.
  static std::vector<std::uint64_t> values(const Profile& profile, Metric metric) {
    std::vector<std::uint64_t> values;
    for (std::uint32_t node = 0; node < profile.tree.size(); ++node) values.push_back(profile.tree.value(metric, node));
    return values;
  }

  Profile profile() { return ingest(arena::Reader::open(path_).value()).value(); }

  static constexpr std::uint32_t kTree = 1;
  static constexpr std::uint32_t kFlags = arena::kSubgraph | arena::kTimeOnly;
  std::filesystem::path path_;
  arena::Writer arena_;
  std::uint8_t* chunk_ = nullptr;
  std::size_t used_ = 0;
  arena::SubgraphTree* tree_ = nullptr;
};

TEST_F(SubgraphTest, TakesOffWhatMeasuringCosts) {
  arena::SubgraphNode* task = root(1, 10, 100'000);
  callee(task, 2, 100, 40'000);
  const Profile p = profile();
  EXPECT_EQ(p.recording.mode, "subgraph");
  EXPECT_THAT(p.tree.depth, ElementsAre(0, 1, 2));
  EXPECT_THAT(values(p, Metric::kCalls), ElementsAre(0, 10, 100));
  // 100,000 - 40,000 - 10 x 20 - 100 x 30 and 40,000 - 100 x 20.
  EXPECT_THAT(values(p, Metric::kWallNs), ElementsAre(0, 56'800, 38'000));
  EXPECT_EQ(metric_of_work(p), Metric::kWallNs);
  EXPECT_FALSE(events_behind(p, Metric::kWallNs).has_value());
}

TEST_F(SubgraphTest, NoTimeIsLessThanNothing) {
  arena::SubgraphNode* task = root(1, 10, 10'000);
  callee(task, 2, 1000, 9'900);
  EXPECT_THAT(values(profile(), Metric::kWallNs), ElementsAre(0, 0, 0));
}

TEST_F(SubgraphTest, WhatAConstructorCalledIsNotItsCallersTime) {
  arena::SubgraphNode* task = root(1, 1, 100'000);
  callee(callee(task, 2, 1, 0), 3, 1, 40'000);
  // 100,000 - 40,000 - 20 - 30, nothing, and 40,000 - 20.
  EXPECT_THAT(values(profile(), Metric::kWallNs), ElementsAre(0, 59'950, 0, 39'980));
}

TEST_F(SubgraphTest, OurOwnTimeIsTakenOffWhereItWasSpent) {
  arena::SubgraphNode* task = root(1, 1, 100'000);
  task->own_ns = 30'000;
  EXPECT_THAT(values(profile(), Metric::kWallNs), ElementsAre(0, 69'980));
}

TEST_F(SubgraphTest, BareCallsSayWhatACallCosts) {
  arena::SubgraphNode* task = root(1, 100, 1'000'000);
  callee(task, 2, 10'000, 700'000);
  arena::RootTimes* times = times_of(task);
  times->count = 100;
  times->time_ns = 1'000'000;
  times->all_bare = times->bare = 30;
  times->bare_ns = 30 * 2000;
  times->bare_squares = 30 * 2000.0 * 2000.0;
  const Profile p = profile();
  // 800,000 for what was calibrated as 100 x 20 + 10,000 x 30 and 10,000 x 20. All that is left are 100 x 2,000.
  EXPECT_EQ(p.roots[0].cost_percent, 159u);
  EXPECT_THAT(values(p, Metric::kWallNs), ElementsAre(0, 0, 200'000));
}

TEST_F(SubgraphTest, TimesSumUpToWhatBareCallsTakeIfThatIsMore) {
  arena::SubgraphNode* task = root(1, 100, 1'000'000);
  callee(task, 2, 100, 600'000);
  arena::RootTimes* times = times_of(task);
  times->count = 100;
  times->time_ns = 1'000'000;
  times->all_bare = times->bare = 30;
  times->bare_ns = 30 * 15'000;
  times->bare_squares = 30 * 15'000.0 * 15'000.0;
  const Profile p = profile();
  EXPECT_EQ(p.roots[0].cost_percent, 0u);
  EXPECT_THAT(values(p, Metric::kWallNs), ElementsAre(0, 600'000, 900'000));
}

TEST_F(SubgraphTest, OnlyTheLatestRoundOfBareCallsCounts) {
  for (const std::uint64_t round : {2, 1, 2}) {
    arena::RootTimes* times = times_of(root(1, 1, 1000));
    times->all_bare = times->bare = 10 * round;
    times->bare_ns = 1000 * round;
    times->bare_squares = 100'000.0 * static_cast<double>(round);
    times->bare_round = round;
  }
  const Profile p = profile();
  EXPECT_EQ(p.roots[0].all_bare, 50u);
  EXPECT_EQ(p.roots[0].bare, 40u);
  EXPECT_EQ(p.roots[0].bare_ns, 4000u);
}

TEST_F(SubgraphTest, BareCallsThatMayBeChanceSayNothing) {
  arena::SubgraphNode* task = root(1, 100, 1'000'000);
  arena::RootTimes* times = times_of(task);
  times->count = 100;
  times->time_ns = 1'000'000;
  times->all_bare = times->bare = 30;
  times->bare_ns = 30 * 8000;
  times->bare_squares = 30 * 60'000.0 * 60'000.0;
  const Profile p = profile();
  EXPECT_EQ(p.roots[0].cost_percent, 100u);
  EXPECT_THAT(values(p, Metric::kWallNs), ElementsAre(0, 998'000));
}

TEST_F(SubgraphTest, CalleesAreInTheOrderOfTheirMethods) {
  arena::SubgraphNode* task = root(1, 1, 0);
  callee(task, 3, 7, 0);
  callee(task, 2, 5, 0)->thrown = 4;
  const Profile p = profile();
  EXPECT_THAT(values(p, Metric::kCalls), ElementsAre(0, 1, 5, 7));
  EXPECT_THAT(values(p, Metric::kExceptions), ElementsAre(0, 0, 4, 0));
}

TEST_F(SubgraphTest, CallsOfRootsHaveADistribution) {
  arena::RootTimes* times = times_of(root(1, 100, 0));
  times->count = 100;
  times->time_ns = 99 * 1000 + 50'000;
  times->least_ns = 1000;
  times->most_ns = 50'000;
  times->buckets[arena::bucket_of(1000)] = 99;
  times->buckets[arena::bucket_of(50'000)] = 1;
  times->last[0] = {.start_ns = 5, .time_ns = 1000};
  const Profile p = profile();
  ASSERT_EQ(p.roots.size(), 1u);
  EXPECT_EQ(p.roots[0].calls, 100u);
  EXPECT_NEAR(static_cast<double>(p.roots[0].time_at(0.5)), 1000, 125);
  EXPECT_NEAR(static_cast<double>(p.roots[0].time_at(0.99)), 1000, 125);
  EXPECT_EQ(p.roots[0].time_at(1), 50'000u);
  EXPECT_EQ(p.roots[0].last.size(), 64u);
}

TEST_F(SubgraphTest, AListThatRunsInCirclesIsDamage) {
  arena::SubgraphNode* task = root(1, 1, 0);
  arena::SubgraphNode* node = callee(task, 2, 1, 0);
  node->next_sibling = arena_.address(node);
  EXPECT_GT(profile().recording.damage_count, 0u);
}

TEST_F(SubgraphTest, ANodeOfAnotherParentIsDamage) {
  arena::SubgraphNode* task = root(1, 1, 0);
  callee(task, 2, 1, 0)->parent = 64;
  const Profile p = profile();
  EXPECT_GT(p.recording.damage_count, 0u);
  EXPECT_EQ(p.tree.size(), 2u);
}

TEST(TimeBuckets, AreAnEighthWide) {
  for (std::uint32_t bucket = 17; bucket < arena::kTimeBuckets; ++bucket) {
    const std::uint64_t least = arena::least_of_bucket(bucket);
    EXPECT_EQ(arena::bucket_of(least), bucket);
    EXPECT_EQ(arena::bucket_of(least - 1), bucket - 1);
    EXPECT_LE(least - arena::least_of_bucket(bucket - 1), (least - 1) / 8 + 1);
  }
  EXPECT_EQ(arena::bucket_of(~0ULL), arena::kTimeBuckets - 1);
}

}  // namespace
}  // namespace sonde::profile
