// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/cfi.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace sonde::agent::native {
namespace {

using Code = std::vector<std::uint8_t>;

// Version 1, code alignment 1, data alignment -8, return address in register 16; at the entry the CFA is rsp + 8 and
// the return address lies below it.
Code make_cie(std::string_view augmentation = "") {
  Code cie = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  for (const char letter : augmentation) cie.push_back(static_cast<std::uint8_t>(letter));
  for (const std::uint8_t byte : {0x00, 0x01, 0x78, 0x10, 0x0c, 0x07, 0x08, 0x90, 0x01}) cie.push_back(byte);
  return cie;
}

// Of a function at 0x100 with 64 bytes.
Code make_fde(const Code& instructions) {
  Code fde = {0, 0, 0, 0, 4, 0, 0, 0, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0};
  fde.insert(fde.end(), instructions.begin(), instructions.end());
  return fde;
}

std::optional<UnwindRule> rule_at(std::uint64_t pc, const Code& instructions, const Code& cie = make_cie()) {
  const Code fde = make_fde(instructions);
  return find_rule({.bytes = cie, .address = 0x1000}, {.bytes = fde, .address = 0x2000}, pc);
}

// push rbp; mov rbp, rsp
const Code kFramePointer = {0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d, 0x06};

TEST(CallFrameInformation, FollowsAPrologue) {
  const auto entry = rule_at(0x100, kFramePointer);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->cfa_base, UnwindRule::Base::kStackPointer);
  EXPECT_EQ(entry->cfa_offset, 8);
  EXPECT_EQ(entry->return_offset, -8);
  EXPECT_FALSE(entry->fp_is_saved);

  const auto pushed = rule_at(0x101, kFramePointer);
  ASSERT_TRUE(pushed);
  EXPECT_EQ(pushed->cfa_offset, 16);
  EXPECT_TRUE(pushed->fp_is_saved);
  EXPECT_EQ(pushed->fp_offset, -16);

  const auto body = rule_at(0x110, kFramePointer);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->cfa_base, UnwindRule::Base::kFramePointer);
}

TEST(CallFrameInformation, IsForItsOwnFunctionOnly) {
  EXPECT_FALSE(rule_at(0xff, kFramePointer));
  EXPECT_TRUE(rule_at(0x13f, kFramePointer));
  EXPECT_FALSE(rule_at(0x140, kFramePointer));
}

TEST(CallFrameInformation, APlaceThatNoStackFrameHasIsNotUnderstood) {
  const Code far = {0x86, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};  // rbp at 2^63 - 1 units
  EXPECT_FALSE(rule_at(0x100, far));
}

TEST(CallFrameInformation, AnAugmentationOfUnknownLettersIsNotUnderstood) {
  EXPECT_FALSE(rule_at(0x100, kFramePointer, make_cie("zSSSSSSSSSSS")));
  EXPECT_FALSE(rule_at(0x100, kFramePointer, make_cie("zX")));
}

}  // namespace
}  // namespace sonde::agent::native
