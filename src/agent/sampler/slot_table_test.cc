// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/slot_table.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sonde::agent {
namespace {

constexpr std::uint64_t kStack = std::uint64_t{1} << 32;
constexpr std::uint64_t kStackSize = 1 << 20;

pid_t this_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

class SlotTableTest : public testing::Test {
 protected:
  SlotTableTest() { EXPECT_TRUE(slots_.map()); }

  ThreadSlot* start(pid_t tid, std::uint64_t stack) {
    ThreadSlot* slot = slots_.acquire(tid);
    slot->stack_low = stack;
    slot->stack_high = stack == 0 ? 0 : stack + kStackSize;
    slots_.publish(*slot);
    return slot;
  }

  SlotTable slots_;
};

TEST_F(SlotTableTest, FindsAThreadByItsNumberOnceItIsPublished) {
  ThreadSlot* slot = slots_.acquire(7);
  EXPECT_EQ(slots_.find(7), nullptr);
  slots_.publish(*slot);
  EXPECT_EQ(slots_.find(7), slot);
  EXPECT_EQ(slots_.find(8), nullptr);
  slots_.forget(*slot);
  EXPECT_EQ(slots_.find(7), nullptr);
}

TEST_F(SlotTableTest, FindsNoNumberThatLinuxDoesNotHave) {
  EXPECT_EQ(slots_.find(0), nullptr);
  EXPECT_EQ(slots_.find(-1), nullptr);
  EXPECT_EQ(slots_.find(SlotTable::kMaxTid), nullptr);
  EXPECT_EQ(slots_.acquire(SlotTable::kMaxTid), nullptr);
}

TEST_F(SlotTableTest, KnowsTheThreadThatRunsByItsStackOnceItWasSeen) {
  ThreadSlot* slot = start(this_thread(), kStack);
  EXPECT_EQ(slots_.of_this_thread(kStack + 100), slot);
  // Whose stack it is tells; the number of the thread that asks is not looked at again.
  ThreadSlot* other = start(this_thread() + 1, kStack + 64 * kStackSize);
  EXPECT_EQ(slots_.of_this_thread(kStack + 200), slot);
  EXPECT_NE(slots_.of_this_thread(kStack + 64 * kStackSize), other);
}

TEST_F(SlotTableTest, AThreadOfUnknownStackIsFoundByItsNumber) {
  ThreadSlot* slot = start(this_thread(), 0);
  EXPECT_EQ(slots_.of_this_thread(kStack), slot);
}

TEST_F(SlotTableTest, TheNextThreadOnAStackIsNotTakenForTheOneBefore) {
  ThreadSlot* ended = start(this_thread(), kStack);
  EXPECT_EQ(slots_.of_this_thread(kStack + 100), ended);
  slots_.forget(*ended);
  EXPECT_EQ(slots_.of_this_thread(kStack + 100), nullptr);
  ThreadSlot* next = start(this_thread(), kStack);
  ASSERT_NE(next, ended);  // whose samples are not decoded yet
  EXPECT_EQ(slots_.of_this_thread(kStack + 100), next);
}

TEST_F(SlotTableTest, KnowsNobodyAfterAll) {
  start(this_thread(), kStack);
  EXPECT_NE(slots_.of_this_thread(kStack), nullptr);
  slots_.clear();
  EXPECT_EQ(slots_.of_this_thread(kStack), nullptr);
  EXPECT_NE(start(this_thread(), kStack), nullptr);
}

}  // namespace
}  // namespace sonde::agent
