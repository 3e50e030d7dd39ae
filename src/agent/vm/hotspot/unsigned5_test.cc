// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/unsigned5.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::agent::hotspot {
namespace {

// The encoder of unsigned5.hpp, JDK 20 and later, and of compressedStream.cpp before: X is the byte that never occurs.
std::vector<std::uint8_t> encode(std::uint32_t value, std::uint32_t x) {
  const std::uint32_t low = 256 - 64 - x;
  std::vector<std::uint8_t> bytes;
  std::uint32_t sum = value;
  for (int i = 0; i < 4 && sum >= low; ++i) {
    sum -= low;
    bytes.push_back(static_cast<std::uint8_t>(x + low + sum % 64));
    sum >>= 6;
  }
  bytes.push_back(static_cast<std::uint8_t>(x + sum));
  return bytes;
}

TEST(Unsigned5, ReadsWhatBothEncodersWrite) {
  for (const bool excludes_zero : {false, true}) {
    for (const std::uint32_t value : {0U, 1U, 190U, 191U, 192U, 12'287U, 12'288U, 1'000'000U, 0x7fffffffU}) {
      const std::vector<std::uint8_t> bytes = encode(value, excludes_zero ? 1 : 0);
      Unsigned5Reader reader(bytes, excludes_zero);
      EXPECT_EQ(reader.next(), value) << excludes_zero;
      EXPECT_EQ(reader.next(), std::nullopt);
    }
  }
}

TEST(Unsigned5, EndsAtTheExcludedByteAndAtTheEnd) {
  const std::vector<std::uint8_t> bytes = {5, 0, 255};
  Unsigned5Reader reader(bytes, true);
  EXPECT_EQ(reader.next(), 4U);
  EXPECT_EQ(reader.next(), std::nullopt);
  Unsigned5Reader cut({bytes.data() + 2, 1}, true);
  EXPECT_EQ(cut.next(), std::nullopt);
}

}  // namespace
}  // namespace sonde::agent::hotspot
