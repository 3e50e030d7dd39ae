// SPDX-License-Identifier: Apache-2.0
#include "agent/session/sampled_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "agent/session/sample_countdown.h"

namespace sonde::agent {
namespace {

using arena::CallSite;
using arena::Node;

class SampledTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "sampled_tree_" + std::to_string(getpid());
    unlink(path_.c_str());
    ASSERT_TRUE(arena_.create(path_.c_str(), {.capacity = 4 << 20, .address_bias = 0, .flags = 0}).ok());
    ASSERT_TRUE(sites_.create().ok());
    header_.root = arena_.address(&root_);
    root_.node.site_count = 1;
    root_.site.node_offset = sizeof(Node);
    header_.overflow = arena_.address(&overflow_);
    header_.next = arena_.address(memory_.data());
    header_.end = header_.next + sizeof memory_;
  }
  void TearDown() override { unlink(path_.c_str()); }

  // A method with so many call sites; the number of the first.
  std::uint32_t method(std::uint32_t id, std::vector<std::uint32_t> native_callees) {
    return sites_.add_sites(id, native_callees.size() == 1, native_callees).value();
  }
  std::uint64_t& samples(const std::vector<std::uint32_t>& callers, std::uint32_t first) {
    std::uint64_t hash = 0;
    for (const std::uint32_t site : callers) hash = (hash + site) * 0x9e3779b97f4a7c15;
    const std::uint64_t name = (hash + first) * 0x9e3779b97f4a7c15;
    std::uint64_t* known = tree_.find_known(name);
    return known != nullptr ? *known : tree_.add(name, callers, first);
  }

  struct Root {
    Node node{};
    CallSite site{};
  };
  std::string path_;
  arena::Writer arena_;
  SiteTable sites_;
  arena::TreeHeader header_{};
  Root root_;
  Node overflow_{};
  alignas(8) std::array<std::uint8_t, 4096> memory_{};
  SampledTree tree_{arena_, header_, sites_, [](std::uint32_t) { return false; }};
};

TEST_F(SampledTreeTest, SamplesOfACallerAreInItsNodeAndOfALeafAtItsCallSite) {
  const std::uint32_t caller = method(11, {0, 0, 0});
  const std::uint32_t leaf = method(13, {0});
  samples({}, caller) += 2;
  samples({caller + 2}, leaf) += 5;
  samples({caller + 2}, leaf) += 1;
  EXPECT_EQ(root_.site.method_id, 11);
  const auto& node = *static_cast<Node*>(arena_.pointer(root_.site.child));
  EXPECT_EQ(node.bytecodes, 2u);
  EXPECT_EQ(node.depth, 1u);
  const CallSite& site = TreeWriter::sites_of(const_cast<Node&>(node))[2];
  EXPECT_EQ(site.method_id, 13);
  EXPECT_EQ(site.bytecodes, 6u);
  EXPECT_EQ(site.node_offset, static_cast<std::int32_t>(sizeof(Node) + 2 * sizeof(CallSite)));
  EXPECT_EQ(header_.nodes, 2u);
}

TEST_F(SampledTreeTest, FurtherCalleesOfASiteAreExtras) {
  const std::uint32_t caller = method(11, {0, 0});
  const std::uint32_t one = method(13, {0});
  const std::uint32_t two = method(15, {0, 0});
  samples({caller + 1}, one) += 1;
  samples({caller + 1}, two) += 1;
  samples({caller + 1, two + 1}, one) += 1;
  auto& node = *static_cast<Node*>(arena_.pointer(root_.site.child));
  ASSERT_NE(node.extras, 0u);
  EXPECT_EQ(node.extra_count, 1u);
  const auto& extra = *static_cast<arena::ExtraCallSite*>(arena_.pointer(node.extras));
  EXPECT_EQ(extra.site.method_id, 15);
  EXPECT_EQ(extra.of, arena_.address(&TreeWriter::sites_of(node)[1]));
  EXPECT_EQ(static_cast<Node*>(arena_.pointer(extra.site.child))->bytecodes, 1u);
}

TEST_F(SampledTreeTest, WhatANativeMethodCallsHasItsRecordAtTheSite) {
  const std::uint32_t caller = method(11, {0, 8});
  const std::uint32_t callee = method(13, {0});
  samples({caller + 1}, callee) += 1;
  auto& node = *static_cast<Node*>(arena_.pointer(root_.site.child));
  EXPECT_EQ(TreeWriter::sites_of(node)[1].method_id, 8);
  EXPECT_EQ(static_cast<arena::ExtraCallSite*>(arena_.pointer(node.extras))->site.method_id, 13);
}

TEST_F(SampledTreeTest, WhereThereIsNoRoomAllFurtherContextsAreOne) {
  const std::uint32_t caller = method(11, std::vector<std::uint32_t>(300, 0));  // more than there is memory for
  samples({}, caller) += 3;
  samples({caller + 1}, caller) += 4;
  EXPECT_EQ(overflow_.bytecodes, 7u);
  EXPECT_EQ(root_.site.method_id, 0);
}

TEST_F(SampledTreeTest, OneContextMayHaveManyNames) {
  const std::uint32_t caller = method(11, {0, 0});
  std::uint64_t& samples = tree_.add(1, {}, caller);
  EXPECT_EQ(&tree_.add(2, {}, caller), &samples);
  EXPECT_EQ(tree_.find_known(2), &samples);
  EXPECT_EQ(tree_.find_known(3), nullptr);
  std::size_t names = 0;
  tree_.for_each_known([&](std::uint64_t, const std::uint64_t* counter) { names += counter == &samples ? 1 : 0; });
  EXPECT_EQ(names, 2u);
}

// The first numbers of SondeSampling with these settings.
TEST(SampleCountdown, IsThatOfJava) {
  std::uint64_t state = 0;
  const Intervals constant = {.granularity = 500, .jitter = 0, .seed = 1};
  EXPECT_EQ(SampleCountdown(constant, state).begin(7), 500);
  EXPECT_EQ(SampleCountdown(constant, state).next(), 500);
  const Intervals random = {.granularity = 10'000, .jitter = 100, .seed = 1};
  SampleCountdown countdown(random, state);
  EXPECT_EQ(countdown.begin(0), 3528);
  EXPECT_EQ(countdown.next(), 10070);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t next = countdown.next();
    EXPECT_TRUE(next >= 10'000 && next < 10'100) << next;
  }
}

TEST(SampleCountdown, ALongLoopHasSamplesByTheMeanIntervalButForOne) {
  std::uint64_t state = 0;
  const Intervals intervals = {.granularity = 500, .jitter = 100, .seed = 1};
  const SampleCountdown countdown(intervals, state);
  const auto samples_of = [&](std::int64_t left, std::int64_t interval) {
    const std::uint64_t samples = countdown.sample(left, interval);
    return std::pair(samples, left);
  };
  EXPECT_EQ(samples_of(0, 540), std::pair(std::uint64_t{1}, std::int64_t{540}));
  EXPECT_EQ(samples_of(-539, 540), std::pair(std::uint64_t{1}, std::int64_t{1}));
  EXPECT_EQ(samples_of(-540, 540), std::pair(std::uint64_t{2}, std::int64_t{550}));
  EXPECT_EQ(samples_of(-1090, 540), std::pair(std::uint64_t{3}, std::int64_t{550}));
  EXPECT_EQ(samples_of(-100'000, 540), std::pair(std::uint64_t{182}, std::int64_t{90}));
}

}  // namespace
}  // namespace sonde::agent
