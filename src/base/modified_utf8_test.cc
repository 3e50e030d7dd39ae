// SPDX-License-Identifier: Apache-2.0
#include "base/modified_utf8.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using namespace std::string_view_literals;

TEST(ModifiedUtf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_TRUE(is_valid_modified_utf8(""));
  EXPECT_TRUE(is_valid_modified_utf8("java/util/concurrent/ConcurrentHashMap"));
  EXPECT_TRUE(is_valid_modified_utf8("gr\xC3\xBC\xC3\x9F"));
  EXPECT_TRUE(is_valid_modified_utf8("\xE2\x82\xAC"));
  EXPECT_TRUE(is_valid_modified_utf8("\xC0\x80")) << "U+0000 takes two bytes";
  EXPECT_TRUE(is_valid_modified_utf8("\xED\xA0\xBD\xED\xB8\x80")) << "a pair of surrogates";
  EXPECT_TRUE(is_valid_modified_utf8("\xED\xA0\xBD")) << "a lone surrogate is legal in a class file";
}

TEST(ModifiedUtf8, RejectsWhatIsNotModifiedUtf8) {
  EXPECT_FALSE(is_valid_modified_utf8("a\0b"sv)) << "a zero byte";
  EXPECT_FALSE(is_valid_modified_utf8("12345678\0abcdefgh"sv));
  EXPECT_FALSE(is_valid_modified_utf8("1234567\0"sv)) << "in the part that is read eight bytes at a time";
  EXPECT_FALSE(is_valid_modified_utf8("\xF0\x9F\x98\x80")) << "four bytes are UTF-8, not modified UTF-8";
  EXPECT_FALSE(is_valid_modified_utf8("\x80")) << "a continuation without a start";
  EXPECT_FALSE(is_valid_modified_utf8("\xC3")) << "cut off";
  EXPECT_FALSE(is_valid_modified_utf8("\xE2\x82"));
  EXPECT_FALSE(is_valid_modified_utf8("\xE2\x82z"));
}

TEST(ModifiedUtf8, OverlongFormsAreForOldClassesOnly) {
  EXPECT_FALSE(is_valid_modified_utf8("\xC1\x81"));
  EXPECT_TRUE(is_valid_modified_utf8("\xC1\x81", Overlong::kAccepted));
  EXPECT_FALSE(is_valid_modified_utf8("\xE0\x81\x81"));
  EXPECT_TRUE(is_valid_modified_utf8("\xE0\x81\x81", Overlong::kAccepted));
}

TEST(Printable, LeavesOrdinaryTextAloneAndTurnsPairsIntoUtf8) {
  EXPECT_EQ(printable("Map$Entry<K, V>"), "Map$Entry<K, V>");
  EXPECT_EQ(printable("gr\xC3\xBC\xC3\x9F\xE2\x82\xAC"), "gr\xC3\xBC\xC3\x9F\xE2\x82\xAC");
  EXPECT_EQ(printable("\xED\xA0\xBD\xED\xB8\x80"), "\xF0\x9F\x98\x80");
}

TEST(Printable, EscapesWhatHasNoShape) {
  EXPECT_EQ(printable("a\nb\tc\rd\\"), "a\\nb\\tc\\rd\\\\");
  EXPECT_EQ(printable("\x1b[31m"), "\\u001b[31m");
  EXPECT_EQ(printable("\xC0\x80"), "\\u0000");
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\u202e") << "right-to-left override";
  EXPECT_EQ(printable("\xED\xA0\xBDx"), "\\ud83dx") << "high surrogate without a partner";
  EXPECT_EQ(printable("\xED\xB8\x80"), "\\ude00") << "low surrogate without a partner";
  EXPECT_EQ(printable("\xED\xA0\xBD\xED\xA0\xBD"), "\\ud83d\\ud83d") << "two high ones are no pair";
}

TEST(Printable, ShowsBrokenBytesOneByOne) {
  EXPECT_EQ(printable("a\0b"sv), "a\\x00b");
  EXPECT_EQ(printable("\xF0\x9F"), "\\xf0\\x9f");
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xED\xA0\xBD\xED\xB8"), "\\ud83d\\xed\\xb8");
}

TEST(Printable, StopsAtTheLimit) {
  std::string out;
  append_printable(out, "abcdef", 3);
  EXPECT_EQ(out, "abc...");
  out.clear();
  append_printable(out, "abc", 3);
  EXPECT_EQ(out, "abc");
}

}  // namespace
}  // namespace sonde
