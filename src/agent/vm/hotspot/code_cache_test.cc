// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/code_cache.h"

#include <gtest/gtest.h>

#include <array>

namespace sonde::agent::hotspot {
namespace {

constexpr char kName[] = "nmethod";

// A block with a header of 16 bytes and an nmethod behind it.
class OneNmethod {
 public:
  OneNmethod() {
    Layout layout{};
    layout.block_header_size = 16;
    layout.block_used = 8;
    layout.nmethod_compile_id = 24;
    layout.blob_name = 8;
    layout.image_low = reinterpret_cast<std::uint64_t>(kName);
    layout.image_high = layout.image_low + sizeof kName;
    layout.code_low = layout.code_high = layout.heaps = reinterpret_cast<std::uint64_t>(&nothing_);
    layout.array_data = layout.array_length = 8;
    cache_.find(layout);
  }
  void set(std::uint8_t used, std::uint32_t compile_id) {
    block_[8] = used;
    std::memcpy(&block_[16 + 24], &compile_id, sizeof compile_id);
  }
  void set_name(std::uint64_t address) { std::memcpy(&block_[16 + 8], &address, sizeof address); }
  [[nodiscard]] bool is_nmethod() const { return cache_.is_nmethod(reinterpret_cast<std::uint64_t>(&block_[16])); }
  [[nodiscard]] bool is_still(std::uint32_t compile_id) const {
    return cache_.difference_from(reinterpret_cast<std::uint64_t>(&block_[16]), compile_id) == 0;
  }

 private:
  struct Nothing {
    const Nothing* self = this;
    std::uint64_t zero = 0;
  } nothing_;
  std::array<std::uint8_t, 64> block_{};
  CodeCache cache_;
};

TEST(CodeCache, KnowsAnNmethodByItsCompileId) {
  OneNmethod code;
  code.set(1, 2931);
  EXPECT_TRUE(code.is_still(2931));
  EXPECT_FALSE(code.is_still(2930));
}

TEST(CodeCache, OneThatWasFreedIsNotThereThoughItsIdIs) {
  OneNmethod code;
  code.set(0, 2931);
  EXPECT_FALSE(code.is_still(2931));
}

TEST(CodeCache, KnowsCodeByItsNameInTheLibraryOfTheJvm) {
  OneNmethod code;
  code.set_name(reinterpret_cast<std::uint64_t>(kName));
  EXPECT_TRUE(code.is_nmethod());
}

// The block is marked as used before the code in it says what it is.
TEST(CodeCache, WhatOthersLeftInABlockIsNoName) {
  OneNmethod code;
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{0x1234}, ~std::uint64_t{0}}) {
    code.set_name(left);
    EXPECT_FALSE(code.is_nmethod());
  }
}

}  // namespace
}  // namespace sonde::agent::hotspot
