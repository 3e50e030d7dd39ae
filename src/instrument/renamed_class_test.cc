// SPDX-License-Identifier: Apache-2.0
#include "instrument/renamed_class.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace sonde::instrument {
namespace {

constexpr ClassRenaming kRenamings[] = {{"java/lang/Thread", "java/lang/SondeThread"}};

std::vector<std::uint8_t> with_constants(const std::vector<std::string>& texts) {
  ByteWriter out;
  out.u4(0xcafebabe);
  out.u4(61);
  out.u2(static_cast<std::uint16_t>(texts.size() + 3));
  for (const std::string& text : texts) {
    out.u1(1);
    out.u2(static_cast<std::uint16_t>(text.size()));
    out.text(text);
  }
  out.u1(5);  // a long: two places
  out.u8(1);
  out.text("rest");
  const Bytes all = out.view();
  return {all.begin(), all.end()};
}

TEST(RenamedClass, ChangesNamesAndDescriptorsAndNothingElse) {
  const auto before =
      with_constants({"java/lang/Thread", "(Ljava/lang/Thread;J)Ljava/lang/Thread;", "[Ljava/lang/Thread;",
                      "java/lang/ThreadGroup", "Ljava/lang/Thread$State;", "Thread"});
  const auto after =
      with_constants({"java/lang/SondeThread", "(Ljava/lang/SondeThread;J)Ljava/lang/SondeThread;",
                      "[Ljava/lang/SondeThread;", "java/lang/ThreadGroup", "Ljava/lang/Thread$State;", "Thread"});
  const auto result = rename_classes(before, kRenamings);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, after);
}

TEST(RenamedClass, ShiftsLongConstants) {
  auto before = with_constants({});
  const auto result = rename_classes(before, {}, {.begin = 1, .end = 2, .by = 0x100});
  ASSERT_TRUE(result.ok());
  before[17] = 1;  // of the long constant 1, big-endian
  EXPECT_EQ(*result, before);
  EXPECT_EQ(*rename_classes(before, {}, {.begin = 1, .end = 2, .by = 0x100}), before);
}

TEST(RenamedClass, RefusesWhatIsNoClassFile) {
  auto cut = with_constants({"java/lang/Thread"});
  cut.resize(20);
  EXPECT_FALSE(rename_classes(cut, kRenamings).ok());
  auto unknown = with_constants({});
  unknown[10] = 99;
  EXPECT_FALSE(rename_classes(unknown, kRenamings).ok());
}

}  // namespace
}  // namespace sonde::instrument
