// SPDX-License-Identifier: Apache-2.0
// The flat region: what Writer reserves, Reader finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "arena/reader.h"
#include "arena/writer.h"

namespace sonde::arena {
namespace {

class FlatRegion : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  Result<void> create(std::uint64_t capacity) {
    return writer_.create(path_.c_str(), {.capacity = capacity, .address_bias = 0, .flags = kFlat});
  }

  void add_method(std::uint32_t id, std::uint16_t flags, std::uint32_t constant) {
    std::vector<std::uint8_t> bytes((sizeof(MethodRecord) + 7) / 8 * 8);
    MethodRecord record = {};
    record.header = {.kind = RecordKind::kMethod, .reserved = 0, .size = static_cast<std::uint32_t>(bytes.size())};
    record.method_id = id;
    record.flags = flags;
    record.constant_bytecodes = constant;
    std::memcpy(bytes.data(), &record, sizeof record);
    ASSERT_TRUE(writer_.append(bytes));
  }

  FlatSlot& slot(std::uint64_t block, std::uint32_t id) {
    return *reinterpret_cast<FlatSlot*>(writer_.flat_region() + flat_slot_offset(block, id));
  }

  // "id calls bytecodes"
  std::vector<std::string> counts(std::uint32_t block) {
    const Reader reader = Reader::open(path_).value();
    std::vector<std::string> lines;
    Damage damage;
    reader.visit_flat(
        block,
        [&](const Context& c) {
          lines.push_back(std::to_string(c.method_id) + " " + std::to_string(c.calls) + " " +
                          std::to_string(c.bytecodes));
        },
        damage);
    EXPECT_EQ(damage.count(), 0u) << ::testing::PrintToString(damage.notes());
    return lines;
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("sonde-flat-test-" + std::to_string(::getpid()));
  Writer writer_;
};

TEST_F(FlatRegion, KeepsCountsByThreadAndMethod) {
  ASSERT_TRUE(create(16 << 20).ok());
  ASSERT_TRUE(writer_.reserve_flat(600, 4));
  for (const std::uint32_t id : {2U, 3U, 600U}) add_method(id, id == 3 ? kSinglePath : 0, id == 3 ? 5 : 0);
  writer_.header().flat_blocks.store(4);
  slot(2, 2) = {.calls = 7, .bytecodes = 70};
  slot(2, 3) = {.calls = 4, .bytecodes = std::uint64_t{0} - 2};  // one of them ended early
  slot(3, 600) = {.calls = 1, .bytecodes = 9};
  slot(1, 600) = {.calls = 1000, .bytecodes = 1000};  // the sink: nobody's
  EXPECT_THAT(counts(2), ::testing::ElementsAre("2 7 70", "3 4 18"));
  EXPECT_THAT(counts(3), ::testing::ElementsAre("600 1 9"));
  EXPECT_TRUE(counts(4).empty());
}

TEST_F(FlatRegion, GrowsWithThreadsAndMethodsUpToTheLimit) {
  ASSERT_TRUE(create(1 << 20).ok());
  EXPECT_TRUE(writer_.reserve_flat(0, 1));
  EXPECT_TRUE(writer_.reserve_flat(300, 17));
  slot(16, 300).calls = 1;
  EXPECT_EQ(writer_.header().flat_reserved.load(), 2 * 32 * kFlatPageSize);
  // 32 blocks x 8 planes would fill 1 MiB, but there is the arena's header, too.
  EXPECT_TRUE(writer_.reserve_flat(7 * kFlatPageSlots - 1, 1));
  EXPECT_FALSE(writer_.reserve_flat(7 * kFlatPageSlots, 1));
  EXPECT_FALSE(writer_.reserve_flat(0, 33));
  EXPECT_EQ(slot(16, 300).calls, 1u);
}

// After attach numbers of methods are even for those of the JDK and odd for others: a JVM with 2,700 classes has had
// 143,064.
TEST_F(FlatRegion, HasRoomForTheMethodsOfALargeProgram) {
  ASSERT_TRUE(create(128 << 20).ok());
  ASSERT_TRUE(writer_.reserve_flat(200'000, 2));
  slot(2, 200'000).calls = 1;
  add_method(200'000, 0, 0);
  writer_.header().flat_blocks.store(3);
  EXPECT_THAT(counts(2), ::testing::ElementsAre("200000 1 0"));
}

TEST_F(FlatRegion, IsRefusedWhereItsFileIsTooShort) {
  ASSERT_TRUE(create(1 << 20).ok());
  writer_.header().flat_blocks.store(5);
  std::filesystem::resize_file(path_, 2 << 20);
  const Reader reader = Reader::open(path_).value();
  EXPECT_EQ(reader.flat_blocks_end(), 0u);
  EXPECT_EQ(reader.damage().count(), 1u);
}

}  // namespace
}  // namespace sonde::arena
