// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/boot_verification.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::agent::hotspot {
namespace {

// Ten changed classes and ten others; `flags` says what the JVM would have in the third byte of the n-th one.
template <typename Flags>  // std::uint8_t(int n, bool is_changed)
std::vector<ClassFlags> twenty_classes(Flags&& flags) {
  std::vector<ClassFlags> classes;
  for (int n = 0; n < 20; ++n) {
    const bool is_changed = n % 2 == 0;
    classes.push_back({.bytes = {1, 0, flags(n, is_changed)}, .is_changed = is_changed});
  }
  return classes;
}

TEST(BootVerification, FindsTheBitThatOnlyChangedClassesHave) {
  const auto classes = twenty_classes([](int n, bool is_changed) {
    const int others = 0x80 | (n % 3 == 0 ? 0x02 : 0);  // all have one of them, some another
    return static_cast<std::uint8_t>(others | (is_changed ? 0x04 : 0));
  });
  const auto found = find_changed_flag(classes);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->byte, 2u);
  EXPECT_EQ(found->mask, 0x04);
}

TEST(BootVerification, FindsNothingIfOneChangedClassIsWithoutIt) {
  EXPECT_FALSE(find_changed_flag(twenty_classes(
      [](int n, bool is_changed) { return static_cast<std::uint8_t>(is_changed && n != 4 ? 0x04 : 0); })));
}

TEST(BootVerification, FindsNothingIfOneOtherClassHasIt) {
  EXPECT_FALSE(find_changed_flag(twenty_classes(
      [](int n, bool is_changed) { return static_cast<std::uint8_t>(is_changed || n == 5 ? 0x04 : 0); })));
}

TEST(BootVerification, FindsNothingIfTwoBitsWouldDo) {
  EXPECT_FALSE(find_changed_flag(
      twenty_classes([](int, bool is_changed) { return static_cast<std::uint8_t>(is_changed ? 0x05 : 0); })));
  auto classes = twenty_classes([](int, bool is_changed) { return static_cast<std::uint8_t>(is_changed ? 0x04 : 0); });
  for (ClassFlags& cls : classes) cls.bytes[7] = cls.is_changed ? 1 : 0;
  EXPECT_FALSE(find_changed_flag(classes));
}

TEST(BootVerification, FewClassesProveNothing) {
  auto classes = twenty_classes([](int, bool is_changed) { return static_cast<std::uint8_t>(is_changed ? 0x04 : 0); });
  classes.resize(10);
  EXPECT_FALSE(find_changed_flag(classes));
  EXPECT_FALSE(find_changed_flag({}));
}

}  // namespace
}  // namespace sonde::agent::hotspot
