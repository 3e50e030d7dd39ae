// SPDX-License-Identifier: Apache-2.0
// HotSpot's variable-length numbers (compressedStream.cpp, unsigned5.hpp): one to five bytes, the first ones of a long
// number being 192 or more. From JDK 20 on no byte is 0, so that 0 can end a stream; all bytes are one larger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sonde::agent::hotspot {

class Unsigned5Reader {
 public:
  Unsigned5Reader(std::span<const std::uint8_t> bytes, bool excludes_zero)
      : bytes_(bytes), excluded_(excludes_zero ? 1 : 0) {}

  // Nothing at the end of the bytes or at a byte that cannot be.
  std::optional<std::uint32_t> next() {
    constexpr std::uint32_t kHigh = 64;
    const std::uint32_t low = 256 - kHigh - excluded_;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0, shift = 0; i < 5; ++i, shift += 6) {
      if (at_ >= bytes_.size() || bytes_[at_] < excluded_) return std::nullopt;
      const std::uint32_t digit = bytes_[at_++] - excluded_;
      sum += digit << shift;
      if (digit < low) break;
    }
    return sum;
  }
  std::optional<std::uint8_t> byte() {
    if (at_ >= bytes_.size()) return std::nullopt;
    return bytes_[at_++];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint32_t excluded_;
  std::size_t at_ = 0;
};

}  // namespace sonde::agent::hotspot
