// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/perf_counters.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sonde::agent::hotspot {
namespace {

// Memory with counters in it, as HotSpot writes it.
class Memory {
 public:
  Memory() : words_(64) {
    const std::uint8_t magic[] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};
    std::memcpy(bytes(), magic, sizeof magic);
    put(24, 32);
  }

  // A name of at most 19 bytes.
  void add(const char* name, std::int64_t value, char type = 'J') {
    std::uint8_t* entry = bytes() + used_;
    put(used_, 48);
    put(used_ + 4, 20);
    entry[12] = static_cast<std::uint8_t>(type);
    put(used_ + 16, 40);
    std::strcpy(reinterpret_cast<char*>(entry) + 20, name);
    std::memcpy(entry + 40, &value, sizeof value);
    used_ += 48;
    put(28, ++count_);
  }

  void put(std::size_t offset, std::uint32_t value) { std::memcpy(bytes() + offset, &value, sizeof value); }
  [[nodiscard]] Bytes view() { return {bytes(), used_}; }
  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t used_ = 32;
  std::uint32_t count_ = 0;
};

TEST(PerfCounters, AreFoundByTheirWholeName) {
  Memory memory;
  memory.add("sun.rt.time", 7);
  memory.add("sun.rt.timeOf", 8);
  memory.add("text", 9, 'B');
  ASSERT_NE(find_perf_counter(memory.view(), "sun.rt.timeOf"), nullptr);
  EXPECT_EQ(*find_perf_counter(memory.view(), "sun.rt.timeOf"), 8);
  EXPECT_EQ(*find_perf_counter(memory.view(), "sun.rt.time"), 7);
  EXPECT_EQ(find_perf_counter(memory.view(), "sun.rt.tim"), nullptr);
  EXPECT_EQ(find_perf_counter(memory.view(), "text"), nullptr);
}

TEST(PerfCounters, AreNotLookedForInOtherMemory) {
  EXPECT_EQ(find_perf_counter({}, "a"), nullptr);
  Memory memory;
  memory.add("a", 1);
  for (std::size_t size = 0; size < memory.view().size(); ++size)
    EXPECT_EQ(find_perf_counter(memory.view().first(size), "a"), nullptr) << size;
  memory.bytes()[5] = 3;  // another version
  EXPECT_EQ(find_perf_counter(memory.view(), "a"), nullptr);
}

TEST(PerfCounters, WithWrongSizesAreNotRead) {
  for (const std::size_t field : {32, 36, 48}) {  // size, name and value of the entry
    Memory memory;
    memory.add("a", 1);
    memory.put(field, 0xffff'fff8);
    EXPECT_EQ(find_perf_counter(memory.view(), "a"), nullptr) << field;
    memory.put(field, 0);
    EXPECT_EQ(field == 48 ? nullptr : find_perf_counter(memory.view(), "a"), nullptr) << field;
  }
}

TEST(PerfCounters, AStopEndsWhenThreadsAreLetGo) {
  const Stopped before{.times = 7, .ns = 100, .reaching_ns = 10, .operations_ns = 300, .collecting_ns = 50};
  Stopped now = before;
  now.times += 1;
  now.ns += 30;  // they ran for 6 of these, on the processor of the VM thread
  now.reaching_ns += 2;
  now.operations_ns += 24;
  EXPECT_EQ(stopped_between(before, now), 26u);
  now.operations_ns += 1000;  // of operations for which nobody stops
  EXPECT_EQ(stopped_between(before, now), 32u);
}

TEST(PerfCounters, StopsOfCollectorsAreTheirs) {
  const Stopped before{.times = 7, .ns = 100, .reaching_ns = 10, .operations_ns = 300, .collecting_ns = 50};
  Stopped now{.times = 9, .ns = 140, .reaching_ns = 13, .operations_ns = 335, .collecting_ns = 65};
  EXPECT_EQ(stopped_between(before, now), 3u + 35u - 15u);
  now.times = 8;  // a collection that ended before and was counted late
  EXPECT_EQ(stopped_between(before, now), 3u + 35u);
}

TEST(PerfCounters, WhatTheJvmDoesNotTellIsLeftOut) {
  EXPECT_EQ(stopped_between({}, {}), std::nullopt);
  EXPECT_EQ(stopped_between({.times = 1, .ns = 5}, {.times = 2, .ns = 25}), 20u);
}

}  // namespace
}  // namespace sonde::agent::hotspot
