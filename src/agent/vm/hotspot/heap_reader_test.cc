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

// References to words, in a heap whose collector colors them.
class ColoredHeapTest : public HeapReaderTest {
 protected:
  static constexpr std::uint64_t kColors[] = {0x1000, 0x2000, 0x4000, 0x8000};

  // The address begins above the bit that is set, whichever it is; the bits below tell of marks.
  void refer(std::uint64_t from, std::uint64_t to, std::uint64_t color) {
    heap_[from] = address(to) * 2 * color | color | 0x550;
  }
  [[nodiscard]] CollectorState collector() const {
    CollectorState state = HeapReaderTest::collector();
    state.color_at = reinterpret_cast<std::uint64_t>(&good_);
    return state;
  }
  [[nodiscard]] bool reads(HeapReader& reader, std::uint64_t word) const {
    std::uint64_t value = 0;
    return reader.read(address(word), value);
  }
  [[nodiscard]] bool follows(HeapReader& reader, std::uint64_t word, std::uint64_t& to) const {
    return reader.read_colored(address(word), to);
  }

  std::uint64_t good_ = kColors[1];
};

TEST_F(ColoredHeapTest, OnlyReferencesOfTheGoodColorAreFollowed) {
  const CollectorState state = collector();
  for (const std::uint64_t good : kColors) {
    good_ = good;
    for (const std::uint64_t color : kColors) {
      refer(5, 700, color);
      HeapReader reader(state, !kWaitedFor);
      std::uint64_t to = 0;
      ASSERT_EQ(follows(reader, 5, to), color == good);
      if (color == good) {
        EXPECT_EQ(to, address(700));
      }
    }
  }
}

TEST_F(ColoredHeapTest, NothingIsNothingInEachColor) {
  const CollectorState state = collector();
  for (const std::uint64_t color : {std::uint64_t{0}, kColors[0], kColors[1], kColors[3]}) {
    heap_[5] = color | (color == 0 ? 0 : 0x550);
    HeapReader reader(state, !kWaitedFor);
    std::uint64_t to = 1;
    EXPECT_TRUE(follows(reader, 5, to));
    EXPECT_EQ(to, 0u);
  }
}

TEST_F(ColoredHeapTest, NobodyIsWaitedFor) {
  const CollectorState state = collector();
  HeapReader reader(state, kWaitedFor);
  take_second_page_away();
  EXPECT_TRUE(reads(reader, 511));
  EXPECT_FALSE(reads(reader, 512));
}

TEST_F(ColoredHeapTest, AnotherGoodColorEndsIt) {
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  EXPECT_TRUE(reads(reader, 1));
  good_ = kColors[0];
  EXPECT_FALSE(reads(reader, 600));
  good_ = kColors[1];
  EXPECT_FALSE(reads(reader, 1)) << "for good";
}

TEST_F(ColoredHeapTest, AColorThatCameBackIsAnotherOne) {
  const CollectorState state = collector();
  HeapReader reader(state, !kWaitedFor);
  EXPECT_TRUE(reads(reader, 1));
  collections_ += 2;  // with each of them the color changed
  EXPECT_FALSE(reads(reader, 600));
}

TEST_F(ColoredHeapTest, AReferenceThatIsBeingColoredIsNotFollowed) {
  const CollectorState state = collector();
  refer(5, 700, kColors[0]);
  HeapReader reader(state, !kWaitedFor);
  ASSERT_TRUE(reads(reader, 4)) << "which copies its neighbours";
  refer(5, 700, good_);
  std::uint64_t to = 0;
  EXPECT_FALSE(follows(reader, 5, to));
}

}  // namespace
}  // namespace sonde::agent::hotspot
