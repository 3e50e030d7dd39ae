// SPDX-License-Identifier: Apache-2.0
#include "archive/zip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "archive/exercise.h"
#include "archive/test_archives.h"

namespace sonde::archive {
namespace {

constexpr std::uint16_t kDeflated = ZipEntry::kDeflated;

// "name=content" per entry, or the error's code in angle brackets.
std::vector<std::string> listing(Bytes bytes) {
  const Result<ZipArchive> archive = ZipArchive::open(bytes);
  if (!archive.ok()) return {"<" + std::string(name_of(archive.error().code)) + ">"};
  std::vector<std::string> lines;
  Buffer scratch;
  for (const ZipEntry& entry : archive->entries()) {
    const Result<Bytes> content = archive->read(entry, scratch);
    const std::string text =
        content.ok() ? std::string(as_text(*content)) : "<" + std::string(name_of(content.error().code)) + ">";
    lines.push_back(std::string(entry.name) + "=" + text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

// The error of reading the only entry.
Error error_of(const TestEntry& entry, const TestZipOptions& options = {}, std::size_t* memory = nullptr) {
  const Buffer zip = make_zip({entry}, options);
  const Result<ZipArchive> archive = ZipArchive::open(zip);
  if (!archive.ok()) return archive.error();
  Buffer scratch;
  Result<Bytes> content = archive->read(archive->entries().at(0), scratch);
  if (memory != nullptr) *memory = scratch.size();
  SONDE_CHECK(!content.ok());
  return std::move(content).error();
}

const std::vector<TestEntry> kEntries = {{.name = "a.txt", .content = "stored"},
                                         {.name = "b/", .content = ""},
                                         {.name = "b/C.class", .content = "deflated", .method = kDeflated}};
const Lines kLines = {"a.txt=stored", "b/=", "b/C.class=deflated"};

TEST(Zip, ReadsStoredAndDeflatedEntriesInDirectoryOrder) {
  const Buffer zip = make_zip(kEntries);
  EXPECT_EQ(listing(zip), kLines);
  const auto archive = ZipArchive::open(zip);
  EXPECT_FALSE(archive->entries()[0].is_directory());
  EXPECT_TRUE(archive->entries()[1].is_directory());
}

TEST(Zip, StoredContentIsNotCopied) {
  const Buffer zip = make_zip({{.name = "a", .content = "hello"}});
  const auto archive = ZipArchive::open(zip);
  Buffer scratch;
  const Bytes content = archive->read(archive->entries()[0], scratch).value();
  EXPECT_TRUE(scratch.empty());
  EXPECT_EQ(content.data(), zip.data() + 31);
}

TEST(Zip, ReadsZip64) { EXPECT_EQ(listing(make_zip(kEntries, {.zip64 = true})), kLines); }

TEST(Zip, ToleratesAPrefixSuchAsALaunchScript) {
  EXPECT_EQ(listing(make_zip(kEntries, {.prefix = "#!/bin/sh\nexec java -jar $0\n"})), kLines);
  EXPECT_EQ(listing(make_zip(kEntries, {.prefix = "JM\1", .zip64 = true})), kLines);
}

TEST(Zip, FindsTheEndBehindACommentOfAnyLength) {
  for (const std::size_t length : {1, 21, 22, 1000, 65535}) {
    EXPECT_EQ(listing(make_zip(kEntries, {.comment = std::string(length, 'c')})), kLines) << length;
  }
}

TEST(Zip, IsNotFooledByAnEndSignatureInTheComment) {
  const std::string fake = "PK\5\6" + std::string(40, 'x');
  EXPECT_EQ(listing(make_zip(kEntries, {.comment = fake})), kLines);
}

TEST(Zip, ReadsAnEmptyArchive) { EXPECT_EQ(listing(make_zip({})), Lines{}); }

TEST(Zip, RefusesWhatIsNotAZip) {
  EXPECT_EQ(listing({}), Lines{"<malformed>"});
  EXPECT_EQ(listing(as_bytes("PK, but only by chance, and long enough to hold an end record")), Lines{"<malformed>"});
}

TEST(Zip, KeepsDuplicateNames) {
  const Buffer zip = make_zip({{.name = "A", .content = "first"}, {.name = "A", .content = "second"}});
  EXPECT_EQ(listing(zip), (Lines{"A=first", "A=second"}));
}

TEST(Zip, NamesAreOnlyNames) {
  const Buffer zip = make_zip({{.name = "../../etc/passwd", .content = "x"}, {.name = "/abs", .content = "y"}});
  EXPECT_EQ(listing(zip), (Lines{"../../etc/passwd=x", "/abs=y"}));
}

TEST(Zip, OneBadEntryDoesNotSpoilTheOthers) {
  const Buffer zip = make_zip({{.name = "good", .content = "1"},
                               {.name = "bad", .content = "2", .claimed_crc = 3},
                               {.name = "fine", .content = "4", .method = kDeflated}});
  EXPECT_EQ(listing(zip), (Lines{"good=1", "bad=<malformed>", "fine=4"}));
}

TEST(Zip, ErrorsNameTheEntryAndTheByte) {
  const Error error = error_of({.name = "a/B.class", .content = "hello", .claimed_crc = 7});
  EXPECT_EQ(error.to_string(), "entry `a/B.class`: content does not match its CRC-32 (byte 39)");
  const Error prefixed = error_of({.name = "a/B.class", .content = "hello", .claimed_crc = 7}, {.prefix = "1234"});
  EXPECT_EQ(prefixed.where.byte_offset, 43u);
}

TEST(Zip, EncryptionAndOtherMethodsAreUnsupported) {
  const Error encrypted = error_of({.name = "secret", .content = "x", .flags = 1});
  EXPECT_EQ(encrypted.code, ErrorCode::kUnsupported);
  EXPECT_EQ(encrypted.where.path, "entry `secret`");
  const Error lzma = error_of({.name = "a", .content = "x", .method = 14});
  EXPECT_EQ(lzma.code, ErrorCode::kUnsupported);
  EXPECT_NE(lzma.message.find("method 14"), std::string::npos);
}

TEST(Zip, SizesHaveToMatchTheData) {
  const std::string text(1000, 'x');
  for (const std::uint64_t claimed : {0, 999, 1001, 100'000}) {
    EXPECT_EQ(error_of({.name = "a", .content = text, .claimed_size = claimed}).code, ErrorCode::kMalformed);
    const Error error = error_of({.name = "a", .content = text, .method = kDeflated, .claimed_size = claimed});
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << claimed;
  }
}

TEST(Zip, BombDeclaredSmallStopsAtTheDeclaredSize) {
  std::size_t memory = 0;
  const std::vector<char> zeros(10'000'000);
  const std::string ten_mb(zeros.begin(), zeros.end());
  const TestEntry bomb = {.name = "bomb", .content = ten_mb, .method = kDeflated, .claimed_size = 100};
  EXPECT_NE(error_of(bomb, {}, &memory).message.find("more than the declared 100 bytes"), std::string::npos);
  EXPECT_LE(memory, 101u);
}

TEST(Zip, BombDeclaredHugeIsRefusedUnread) {
  const TestEntry bomb = {.name = "bomb", .content = "x", .method = kDeflated, .claimed_size = 10'000'000'000};
  std::size_t memory = 0;
  EXPECT_EQ(error_of(bomb, {.zip64 = true}, &memory).code, ErrorCode::kTooLarge);
  EXPECT_EQ(memory, 0u);
}

TEST(Zip, DeclaredSizeAloneClaimsNoMemory) {
  const TestEntry boast = {.name = "a", .content = "x", .method = kDeflated, .claimed_size = kDefaultMaxEntrySize};
  std::size_t memory = 0;
  EXPECT_EQ(error_of(boast, {}, &memory).code, ErrorCode::kMalformed);
  EXPECT_LE(memory, 64u * 1024);
}

TEST(Zip, ContentLargerThanTheFirstBufferArrivesWhole) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  const Buffer zip = make_zip({{.name = "big", .content = text, .method = kDeflated}});
  EXPECT_EQ(listing(zip), Lines{"big=" + text});
}

TEST(Zip, LimitIsTheCallersChoice) {
  const Buffer zip = make_zip({{.name = "a", .content = "12345"}});
  Buffer scratch;
  const auto strict = ZipArchive::open(zip, 4);
  EXPECT_EQ(strict->read(strict->entries()[0], scratch).error().code, ErrorCode::kTooLarge);
  const auto exact = ZipArchive::open(zip, 5);
  EXPECT_TRUE(exact->read(exact->entries()[0], scratch).ok());
}

TEST(Zip, MoreThan65535EntriesWithoutZip64AreCountedModulo) {
  std::vector<TestEntry> entries(65'536 + 3);
  for (TestEntry& entry : entries) entry.name = "n";
  EXPECT_EQ(ZipArchive::open(make_zip(entries))->entries().size(), entries.size());
}

TEST(Zip, SaysWhatIsWrongWithTheEndRecord) {
  const auto complaint = [](std::size_t field, std::uint8_t value) {
    Buffer zip = make_zip(kEntries);
    zip[zip.size() - 22 + field] = value;
    const auto archive = ZipArchive::open(zip);
    return archive.ok() ? "none" : archive.error().message;
  };
  EXPECT_EQ(complaint(4, 1), "archive is split over several files");
  EXPECT_EQ(complaint(10, 7), "central directory has 3 entries instead of the declared 7");
  EXPECT_EQ(complaint(12, 1), "no central directory where the end record points");
  EXPECT_EQ(complaint(15, 1).substr(0, 29), "central directory of 16777370");
  EXPECT_EQ(complaint(19, 1).substr(0, 51), "central directory of 154 bytes at offset 16777338 d");
}

TEST(Zip, DataThatReachesPastTheEndIsTruncated) {
  Buffer zip = make_zip({{.name = "a", .content = "hello"}});
  zip[zip.size() - 22 - 47 + 20] = 200;  // the compressed size in the directory
  EXPECT_EQ(listing(zip), Lines{"a=<truncated>"});
}

TEST(Zip, DamagedDeflateDataIsLocatedInTheArchive) {
  Buffer zip = make_zip({{.name = "a", .content = "hello hello", .method = kDeflated}}, {.prefix = "12345"});
  zip[5 + 31] = 0x07;  // a block type that does not exist
  const auto archive = ZipArchive::open(zip);
  Buffer scratch;
  const Error error = archive->read(archive->entries()[0], scratch).error();
  EXPECT_EQ(error.to_string(), "entry `a`: damaged deflate data: invalid block type (byte 37)");
}

// Damage never crashes, and never passes as another content: the CRC would have to agree.
class ZipDamage : public testing::TestWithParam<TestZipOptions> {};

TEST_P(ZipDamage, TruncatedAnywhere) {
  const Buffer zip = make_zip(kEntries, GetParam());
  for (std::size_t size = 0; size < zip.size(); ++size) {
    const Buffer cut(zip.begin(), zip.begin() + static_cast<std::ptrdiff_t>(size));  // a copy: ASan sees its end
    exercise_zip(cut);
    const bool only_comment_cut = zip.size() - size <= GetParam().comment.size();
    EXPECT_EQ(listing(cut) == kLines, only_comment_cut) << size;
  }
}

TEST_P(ZipDamage, EveryByteFlippedInEveryBit) {
  const Buffer zip = make_zip(kEntries, GetParam());
  for (std::size_t at = 0; at < zip.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Buffer damaged = zip;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 << bit));
      exercise_zip(damaged);
    }
    Buffer saturated = zip;
    saturated[at] = 0xff;
    exercise_zip(saturated);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ZipDamage,
                         testing::Values(TestZipOptions{}, TestZipOptions{.comment = "a comment"},
                                         TestZipOptions{.prefix = "#!/bin/sh\n"}, TestZipOptions{.zip64 = true}));

}  // namespace
}  // namespace sonde::archive
