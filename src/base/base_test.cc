// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "base/counters.h"
#include "base/id.h"
#include "base/numbering.h"
#include "base/result.h"

namespace sonde {
namespace {

Result<int> half_of(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kInvalidArgument, "odd: " + std::to_string(n)};
  return n / 2;
}

Result<int> quarter_of(int n) { return TRY(half_of(TRY(half_of(n)))); }

TEST(Result, TryUnwrapsValuesAndPassesErrorsOn) {
  EXPECT_EQ(quarter_of(12).value(), 3);
  ASSERT_FALSE(quarter_of(6).ok());
  EXPECT_EQ(quarter_of(6).error().message, "odd: 3");
}

TEST(Error, NamesThePlaceFromTheOutsideIn) {
  Error error{ErrorCode::kMalformed, "unknown opcode 0xcb", {.path = "pc 17", .byte_offset = 5}};
  error = std::move(error).within("Code").within("method `a/B.c()V`").shifted(100);
  EXPECT_EQ(error.to_string(), "method `a/B.c()V`, Code, pc 17: unknown opcode 0xcb (byte 105)");
  EXPECT_EQ(name_of(ErrorCode::kTooLarge), "too-large");
}

TEST(ByteReader, ReadsBigEndian) {
  const std::uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  ByteReader reader(data);
  EXPECT_EQ(reader.u1(), 1);
  EXPECT_EQ(reader.u2(), 0x0203);
  EXPECT_EQ(reader.u4(), 0x04050607u);
  EXPECT_EQ(reader.u8(), 0x08090a0b0c0d0e0fu);
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(reader.check("all").ok());
}

TEST(ByteReader, ReadPastTheEndIsRememberedWithItsOffset) {
  const std::uint8_t data[] = {1, 2, 3};
  ByteReader reader(data);
  reader.u2();
  EXPECT_EQ(reader.u4(), 0u);
  EXPECT_EQ(reader.u1(), 0u) << "nothing is read after an overrun";
  const Result<void> result = reader.check("magic");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kTruncated);
  EXPECT_EQ(result.error().where.byte_offset, 2u);
  EXPECT_NE(result.error().message.find("magic"), std::string::npos);
}

TEST(ByteReader, HugeLengthsDoNotWrapAround) {
  const std::uint8_t data[] = {1, 2, 3};
  ByteReader reader(data);
  reader.u1();
  EXPECT_TRUE(reader.bytes(~std::size_t{0}).empty());
  EXPECT_TRUE(reader.overran());
}

TEST(ByteReader, TakesAWholeStructureOrNothing) {
  const std::uint8_t data[] = {1, 2, 3};
  ByteReader reader(data);
  EXPECT_EQ(reader.take(2), data);
  EXPECT_EQ(reader.take(2), nullptr);
  EXPECT_TRUE(reader.overran());
  ByteReader empty((Bytes()));
  EXPECT_EQ(empty.u1(), 0);
  EXPECT_TRUE(empty.overran()) << "also where there is not even an address";
}

TEST(ByteWriter, WritesWhatAReaderReads) {
  ByteWriter writer;
  for (int i = 0; i < 1000; ++i) {
    writer.u1(0xab);
    writer.u2(0x1234);
    writer.u4(0xdeadbeef);
    writer.u8(0x0123456789abcdef);
  }
  writer.patch_u2(1, 0x4321);
  ByteReader reader(writer.view());
  EXPECT_EQ(reader.u1(), 0xab);
  EXPECT_EQ(reader.u2(), 0x4321);
  EXPECT_EQ(reader.u4(), 0xdeadbeefu);
  EXPECT_EQ(reader.u8(), 0x0123456789abcdefu);
  EXPECT_EQ(writer.size(), 15000u);
}

TEST(Id, KindsDoNotMix) {
  using Apple = Id<struct AppleTag, int>;
  using Pear = Id<struct PearTag, int>;
  static_assert(!std::is_convertible_v<Apple, Pear> && !std::is_convertible_v<int, Apple>);
  EXPECT_LT(Apple(1), Apple(2));
  EXPECT_EQ(std::hash<Apple>{}(Apple(7)), std::hash<int>{}(7));
}

struct Poor {
  std::uint64_t operator()(std::uint64_t key) const { return key % 3; }
};

TEST(Numbering, CountsUpInTheOrderOfFirstUse) {
  Numbering<std::uint64_t, Poor> numbering;  // keys collide all the time
  for (std::uint32_t i = 0; i < 3000; ++i) {
    EXPECT_EQ(numbering.number_of(i * 7), std::pair(i, true));
    EXPECT_EQ(numbering.number_of(i / 2 * 7), std::pair(i / 2, false));
  }
  EXPECT_EQ(numbering.size(), 3000u);
  EXPECT_EQ(numbering.key(2999), 2999u * 7);
}

TEST(Counters, HaveUniqueIdsAndWholeSentences) {
  std::set<int> ids;
  for (const CounterInfo& counter : kCounters) {
    EXPECT_TRUE(ids.insert(counter.id).second) << counter.name;
    EXPECT_GT(counter.sentence.size(), 20u) << counter.name;
  }
}

}  // namespace
}  // namespace sonde
