// SPDX-License-Identifier: Apache-2.0
#include "agent/session/hot_tables.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "arena/reader.h"

namespace sonde::agent {
namespace {

using arena::SampleTreeKind;

class HotTablesTest : public testing::Test {
 protected:
  HotTablesTest() : path_(std::filesystem::temp_directory_path() / ("hot_tables_test-" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
    EXPECT_TRUE(arena_.create(path_.c_str(), {.capacity = 4 << 20, .address_bias = 0, .flags = 0}).ok());
  }
  ~HotTablesTest() override { std::filesystem::remove(path_); }

  arena::Reader::Hot hot(SampleTreeKind kind) {
    const auto reader = arena::Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    return reader->hot(kind);
  }

  std::filesystem::path path_;
  arena::Writer arena_;
  HotTables tables_{arena_};
};

TEST_F(HotTablesTest, AreEmptyBeforeTheFirstSample) {
  EXPECT_TRUE(hot(SampleTreeKind::kCpu).methods.empty());
  tables_.count_method(SampleTreeKind::kWall, 5, 2, 20);
  EXPECT_TRUE(hot(SampleTreeKind::kCpu).methods.empty());
  ASSERT_EQ(hot(SampleTreeKind::kWall).methods.size(), 1U);
  EXPECT_EQ(hot(SampleTreeKind::kWall).methods[0].weight_ns, 20U);
}

// More methods than the table has room for, some of which get hot late.
TEST_F(HotTablesTest, AreWhatSortingEverythingWouldGive) {
  std::mt19937 random(1);
  std::map<std::uint32_t, std::uint64_t> truth;
  std::uint64_t samples = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto spread = static_cast<std::uint32_t>(random() % 400 + 1);
    const std::uint32_t method = i < 10'000 ? spread * spread / 400 : 1000 - spread * spread / 400;
    truth[method] += 1 + method % 2;
    samples += 1 + method % 2;
    tables_.count_method(SampleTreeKind::kCpu, method, 1 + method % 2, 10);
    tables_.count_edge(SampleTreeKind::kCpu, tables_.edge(SampleTreeKind::kCpu, method, method + 1));
  }
  std::vector<std::uint64_t> sorted;
  sorted.reserve(truth.size());
  for (const auto& [method, count] : truth) sorted.push_back(count);
  std::ranges::sort(sorted, std::greater());
  const arena::Reader::Hot found = hot(SampleTreeKind::kCpu);
  EXPECT_EQ(found.samples, samples);
  ASSERT_EQ(found.methods.size(), arena::kHotEntries);
  ASSERT_EQ(found.edges.size(), arena::kHotEntries);
  for (std::size_t i = 0; i < arena::kHotEntries; ++i) {
    EXPECT_EQ(found.methods[i].samples, sorted[i]) << i;
    EXPECT_EQ(found.methods[i].samples, truth[static_cast<std::uint32_t>(found.methods[i].key)]);
    EXPECT_EQ(found.edges[i].key >> 32, (found.edges[i].key & 0xffffffff) - 1);
  }
}

}  // namespace
}  // namespace sonde::agent
