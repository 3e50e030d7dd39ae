// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/heap_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sonde::agent::hotspot {
namespace {

constexpr std::size_t kPage = 4096;
constexpr bool kWaitedFor = true;

// Two pages of words that are their own index, the second of which can be taken away, and a collector.
class HeapReaderTest : public testing::Test {
 protected:
  HeapReaderTest()
      : heap_(static_cast<std::uint64_t*>(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (std::uint64_t i = 0; i < 2 * kPage / 8; ++i) heap_[i] = i;
  }
  ~HeapReaderTest() override { munmap(heap_, 2 * kPage); }

  [[nodiscard]] std::uint64_t address(std::uint64_t word) const {
    return reinterpret_cast<std::uint64_t>(heap_ + word);
  }
  void take_second_page_away() { mprotect(heap_ + kPage / 8, kPage, PROT_NONE); }
  void collect() {
    is_active_ = true;
    ++collections_;
    for (std::uint64_t i = 0; i < 2 * kPage / 8; ++i) heap_[i] = ~i;
    is_active_ = false;
  }
  [[nodiscard]] CollectorState collector() const {
    return {.active_at = reinterpret_cast<std::uint64_t>(&is_active_),
            .count_at = reinterpret_cast<std::uint64_t>(&collections_),
            .self = getpid()};
  }

  std::uint64_t* heap_;
  bool is_active_ = false;
  std::uint32_t collections_ = 7;
};

TEST_F(HeapReaderTest, ReadsInAnyOrderWhatIsThere) {
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  for (const std::uint64_t word : {0, 1, 127, 128, 127, 1023, 511, 512, 300}) {
    std::uint64_t value = 0;
    ASSERT_TRUE(reader.read(address(word), value));
    EXPECT_EQ(value, word);
  }
  std::uint32_t half = 0;
  ASSERT_TRUE(reader.read(address(5), half));
  EXPECT_EQ(half, 5u);
}

TEST_F(HeapReaderTest, MemoryThatIsGoneIsNoFault) {
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  take_second_page_away();
  std::uint64_t value = 0;
  EXPECT_TRUE(reader.read(address(511), value));
  EXPECT_FALSE(reader.read(address(512), value));
}

TEST_F(HeapReaderTest, ReadsNothingDuringACollection) {
  is_active_ = true;
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  is_active_ = false;  // over, but what the thread knows may be from before
  std::uint64_t value = 0;
  EXPECT_FALSE(reader.read(address(0), value));
}

TEST_F(HeapReaderTest, ACollectionSinceEndsIt) {
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  std::uint64_t value = 0;
  ASSERT_TRUE(reader.read(address(1), value));
  collect();
  EXPECT_TRUE(reader.read(address(2), value)) << "was copied before";
  EXPECT_EQ(value, 2u);
  EXPECT_FALSE(reader.read(address(600), value));
  EXPECT_FALSE(reader.read(address(2), value)) << "for good";
}

TEST_F(HeapReaderTest, AThreadThatIsWaitedForNeedsNoCopy) {
  const CollectorState state = collector();
  HeapReader reader(state, kWaitedFor);
  std::uint64_t value = 0;
  ASSERT_TRUE(reader.read(address(1), value));
  heap_[2] = 99;
  ASSERT_TRUE(reader.read(address(2), value));
  EXPECT_EQ(value, 99u);
}

TEST_F(HeapReaderTest, WithoutACollectorThatIsKnownOnlyThoseAreRead) {
  const CollectorState unknown;
  HeapReader reader(unknown, !kWaitedFor);
  HeapReader waited_for(unknown, kWaitedFor);
  std::uint64_t value = 0;
  EXPECT_FALSE(reader.read(address(1), value));
  EXPECT_TRUE(waited_for.read(address(1), value));
}

}  // namespace
}  // namespace sonde::agent::hotspot
