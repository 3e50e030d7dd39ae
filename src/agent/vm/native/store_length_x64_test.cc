// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/store_length_x64.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

namespace sonde::agent {
namespace {

std::size_t length(std::initializer_list<std::uint8_t> code) {
  std::array<std::uint8_t, 32> padded{};
  std::copy(code.begin(), code.end(), padded.begin());
  return store_length(padded.data());
}

TEST(StoreLength, KnowsWhatCompilersMakeOfAStore) {
  EXPECT_EQ(length({0x89, 0x08}), 2u);                                          // mov [rax], ecx
  EXPECT_EQ(length({0x44, 0x89, 0x01}), 3u);                                    // mov [rcx], r8d
  EXPECT_EQ(length({0x89, 0x45, 0x08}), 3u);                                    // mov [rbp+8], eax
  EXPECT_EQ(length({0x89, 0x04, 0x24}), 3u);                                    // mov [rsp], eax
  EXPECT_EQ(length({0x89, 0x44, 0x24, 0x08}), 4u);                              // mov [rsp+8], eax
  EXPECT_EQ(length({0xc7, 0x00, 1, 2, 3, 4}), 6u);                              // mov dword [rax], imm32
  EXPECT_EQ(length({0x41, 0xc7, 0x84, 0x1b, 0, 0, 0, 0x70, 1, 2, 3, 4}), 12u);  // [r11+rbx+disp32], imm32
  EXPECT_EQ(length({0xc7, 0x04, 0x25, 0, 0, 0, 0x70, 1, 2, 3, 4}), 11u);        // [disp32], imm32
  EXPECT_EQ(length({0x89, 0x05, 1, 2, 3, 4}), 6u);                              // [rip+disp32], eax
  EXPECT_EQ(length({0x66, 0xc7, 0x00, 1, 2}), 5u);                              // mov word [rax], imm16
  EXPECT_EQ(length({0xc6, 0x40, 0x08, 1}), 4u);                                 // mov byte [rax+8], imm8
  EXPECT_EQ(length({0x48, 0x89, 0x01}), 3u);                                    // mov [rcx], rax
}

TEST(StoreLength, IsNoneOfAnythingElse) {
  EXPECT_EQ(length({0x89, 0xc8}), 0u);        // mov eax, ecx
  EXPECT_EQ(length({0x8b, 0x08}), 0u);        // mov ecx, [rax]
  EXPECT_EQ(length({0xf0, 0x0f, 0xb1}), 0u);  // lock cmpxchg
}

}  // namespace
}  // namespace sonde::agent
