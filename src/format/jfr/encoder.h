// SPDX-License-Identifier: Apache-2.0
// Bytes as a JFR chunk has them: LEB128 numbers of at most nine bytes, strings with a tag, events with their own size
// in front.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::format::jfr {

enum class StringTag : std::uint8_t { kNull = 0, kEmpty = 1, kConstant = 2, kUtf8 = 3, kChars = 4, kLatin1 = 5 };

class Encoder {
 public:
  void u1(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void big_endian(std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) u1(static_cast<std::uint8_t>(value >> shift));
  }
  // The ninth byte, if there is one, has eight bits.
  void number(std::uint64_t value) {
    for (int i = 0; i < 8 && value >= 0x80; ++i) {
      u1(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    u1(static_cast<std::uint8_t>(value));
  }
  void text(std::string_view value) {
    if (value.empty()) return u1(static_cast<std::uint8_t>(StringTag::kEmpty));
    u1(static_cast<std::uint8_t>(StringTag::kUtf8));
    number(value.size());
    bytes_ += value;
  }
  // With its size, which counts itself.
  void event(std::string_view body) {
    for (std::size_t width = 1;; ++width) {
      Encoder size;
      size.number(body.size() + width);
      if (size.bytes_.size() != width) continue;
      bytes_ += size.bytes_;
      bytes_ += body;
      return;
    }
  }
  void raw(std::string_view bytes) { bytes_ += bytes; }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

}  // namespace sonde::format::jfr
