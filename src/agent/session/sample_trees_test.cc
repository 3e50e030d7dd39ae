// SPDX-License-Identifier: Apache-2.0
#include "agent/session/sample_trees.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "agent/session/sampled_methods.h"
#include "arena/reader.h"

namespace sonde::agent {
namespace {

// An arena in a file that is gone after the test.
class SampleTreesTest : public testing::Test {
 protected:
  void create(std::uint64_t capacity) {
    path_ = std::filesystem::temp_directory_path() / ("sample_trees_test-" + std::to_string(getpid()));
    std::filesystem::remove(path_);
    ASSERT_TRUE(arena_.create(path_.c_str(), {.capacity = capacity, .address_bias = 0, .flags = 0}).ok());
    arena_.header().state.store(static_cast<std::uint32_t>(arena::State::kEnded));
  }
  ~SampleTreesTest() override { std::filesystem::remove(path_); }

  // "a 3\n  b@7 1 (2 new)": name, line of the call, samples, activations.
  std::string drawing() {
    const auto reader = arena::Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    std::string text;
    arena::Damage damage;
    for (const arena::SampleTreeEntry& tree : reader->sample_trees()) {
      reader->walk(
          tree,
          [&](const arena::SampleContext& node) {
            text += std::string(2 * node.depth, ' ') +
                    std::string(node.method == nullptr ? "(full)" : node.method->name) +
                    (node.line == 0 ? "" : "@" + std::to_string(node.line)) + " " + std::to_string(node.samples) +
                    " (" + std::to_string(node.activations) + " new)\n";
          },
          damage);
    }
    EXPECT_EQ(damage.count(), 0U);
    return text;
  }

  StackFrame frame(const char* name, std::uint16_t line) {
    return {.method_id = methods_.id_of_pseudo(name), .line = line, .bci = 0};
  }

  std::filesystem::path path_;
  arena::Writer arena_;
  SampledMethods methods_{arena_};
  SampleTrees trees_{arena_, methods_};
  const SampleTrees::TreeKey main_{arena::SampleTreeKind::kCpu, arena::ThreadState::kRunning, "main", false};
};

TEST_F(SampleTreesTest, StacksMeetWhereTheyAreTheSame) {
  create(4 << 20);
  StackPath path;
  const std::uint32_t tree = trees_.tree_for(main_);
  trees_.add(tree, std::array{frame("a", 7), frame("b", 1)}, path, 1, 10);
  trees_.add(tree, std::array{frame("a", 7), frame("b", 2)}, path, 2, 10);
  trees_.add(tree, std::array{frame("a", 9), frame("b", 1)}, path, 1, 10);
  trees_.add(tree, std::array{frame("a", 3)}, path, 1, 10);
  EXPECT_EQ(drawing(), "  a 1 (1 new)\n    b@7 3 (1 new)\n    b@9 1 (1 new)\n");
}

// papers/002: a method that is called often is seen anew often, one that is slow is seen again.
TEST_F(SampleTreesTest, ActivationsTellCalledOftenFromSlow) {
  create(4 << 20);
  StackPath path;
  const std::uint32_t tree = trees_.tree_for(main_);
  for (int i = 0; i < 10; ++i) {
    trees_.add(tree, std::array{frame("a", 1), frame("often", 1)}, path, 1, 10);
    trees_.add(tree, std::array{frame("a", 1)}, path, 1, 10);
  }
  for (int i = 0; i < 10; ++i) trees_.add(tree, std::array{frame("a", 1), frame("slow", 1)}, path, 1, 10);
  EXPECT_EQ(drawing(), "  a 10 (1 new)\n    often@1 10 (10 new)\n    slow@1 10 (1 new)\n");
}

// A loop that always comes back to one context, with many others between.
TEST_F(SampleTreesTest, AFullArenaMakesRoomByPurgingWhatIsCold) {
  create(1 << 20);
  StackPath path;
  const std::uint32_t tree = trees_.tree_for(main_);
  constexpr std::uint64_t kSamples = 60'000;
  const StackFrame root = frame("a", 1);
  const StackFrame hot = frame("hot", 1);
  StackFrame cold = hot;
  arena::SampleNode* held = nullptr;
  std::uint64_t timeline = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    cold.method_id = static_cast<std::uint32_t>(0x50000000 + i);
    arena::SampleNode* node = i % 3 == 0 ? trees_.add(tree, std::array{root, hot}, path, 1, 10)
                                         : trees_.add(tree, std::array{root, cold, cold}, path, 1, 10);
    if (i == 1) held = node;
    if (trees_.purges() == 1 && held->parent == 1) held = trees_.kept(held);
    timeline += trees_.add_to_timeline(node, i) ? 1 : 0;
  }
  EXPECT_GT(trees_.purges(), 1U);
  EXPECT_EQ(arena_.header().counters[info_of(Counter::kSamplesWithoutContext).id].load(), 0U);
  EXPECT_GT(arena_.header().counters[info_of(Counter::kContextsPurged).id].load(), 1000U);
  EXPECT_EQ(held->method_id, methods_.id_of_pseudo("[purged]"));
  const auto reader = arena::Reader::open(path_);
  ASSERT_TRUE(reader.ok());
  std::map<std::string, std::uint64_t> samples;
  std::set<std::uint32_t> places;
  std::uint64_t sum = 0;
  std::uint64_t weight = 0;
  arena::Damage damage;
  reader->walk(
      reader->sample_trees().front(),
      [&](const arena::SampleContext& node) {
        if (node.method != nullptr) samples[std::string(node.method->name)] += node.samples;
        sum += node.samples;
        weight += node.weight_ns;
        places.insert(node.place);
      },
      damage);
  EXPECT_EQ(damage.count(), 0U);
  EXPECT_EQ(sum, kSamples);
  EXPECT_EQ(weight, kSamples * 10);
  EXPECT_EQ(samples["hot"], kSamples / 3);
  EXPECT_GT(samples["[purged]"], 0U);
  // Each moment still belongs to a context that exists.
  EXPECT_EQ(reader->timeline().size(), timeline);
  for (const arena::TimelineEntry& entry : reader->timeline()) ASSERT_TRUE(places.contains(entry.node));
}

// Others have filled the arena.
TEST_F(SampleTreesTest, WithoutAnyRoomSamplesCountAtTheRoot) {
  create(1 << 20);
  StackPath path;
  const std::uint32_t tree = trees_.tree_for(main_);
  while (arena_.new_chunk(arena::ChunkKind::kTree, 0, 4096) != nullptr) {
  }
  constexpr std::uint64_t kSamples = 5'000;
  StackFrame leaf = frame("b", 1);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    leaf.method_id = static_cast<std::uint32_t>(0x50000000 + i);
    trees_.add(tree, std::array{leaf}, path, 1, 10);
  }
  const std::uint64_t lost = arena_.header().counters[info_of(Counter::kSamplesWithoutContext).id].load();
  EXPECT_GT(lost, 0U);
  const auto reader = arena::Reader::open(path_);
  ASSERT_TRUE(reader.ok());
  std::uint64_t sum = 0;
  arena::Damage damage;
  reader->walk(
      reader->sample_trees().front(), [&](const arena::SampleContext& node) { sum += node.samples; }, damage);
  EXPECT_EQ(sum, kSamples);
}

TEST_F(SampleTreesTest, TimelineNamesNodes) {
  create(4 << 20);
  StackPath path;
  const std::uint32_t tree = trees_.tree_for(main_);
  const arena::SampleNode* node = trees_.add(tree, std::array{frame("a", 1)}, path, 1, 10);
  ASSERT_TRUE(trees_.add_to_timeline(node, 3 * arena::kBucketNs + 5));
  const auto reader = arena::Reader::open(path_);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->timeline().size(), 1U);
  EXPECT_EQ(reader->timeline()[0].bucket, 3U);
  arena::Damage damage;
  reader->walk(
      reader->sample_trees().front(),
      [&](const arena::SampleContext& context) { EXPECT_EQ(context.place, reader->timeline()[0].node); }, damage);
}

TEST_F(SampleTreesTest, ManyThreadsOfOneKindShareATree) {
  create(16 << 20);
  std::uint32_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "pool-thread-" + std::to_string(i);
    last = trees_.tree_for({arena::SampleTreeKind::kCpu, arena::ThreadState::kRunning, name, false});
  }
  EXPECT_EQ(trees_.tree_for({arena::SampleTreeKind::kCpu, arena::ThreadState::kRunning, "pool-thread-5000", false}),
            last);
  const auto reader = arena::Reader::open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->sample_trees().size(), 257U);
}

}  // namespace
}  // namespace sonde::agent
