// SPDX-License-Identifier: Apache-2.0
// Numbers and strings of a chunk, never outside its bytes. Like ByteReader: a read past the end gives zeros and is
// remembered; whoever reads asks once for a whole structure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "format/jfr/encoder.h"

namespace sonde::format::jfr {

class Decoder {
 public:
  explicit Decoder(Bytes bytes, std::size_t position = 0) : bytes_(bytes), position_(position) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] bool overran() const { return overran_; }

  std::uint8_t u1() { return available(1) ? bytes_[position_++] : 0; }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      const std::uint8_t byte = u1();
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return value | std::uint64_t{u1()} << 56;
  }
  void skip(std::uint64_t n) {
    if (available(n)) position_ += n;
  }
  Bytes bytes(std::uint64_t n) {
    if (!available(n)) return {};
    position_ += n;
    return bytes_.subspan(position_ - n, n);
  }

  // A text, or the number of one in the constant pool. Null is an empty text.
  struct Text {
    std::string text;
    std::optional<std::uint64_t> constant;
  };
  Text text() {
    switch (static_cast<StringTag>(u1())) {
      case StringTag::kConstant: return {.text = {}, .constant = number()};
      case StringTag::kUtf8: return {.text = std::string(as_text(bytes(number()))), .constant = {}};
      case StringTag::kChars: return {.text = chars(), .constant = {}};
      case StringTag::kLatin1: return {.text = latin1(bytes(number())), .constant = {}};
      case StringTag::kNull:
      case StringTag::kEmpty: return {};
    }
    overran_ = true;  // no such kind of string: nothing behind it can be understood
    return {};
  }

 private:
  bool available(std::uint64_t n) {
    if (n <= bytes_.size() - position_) return true;
    overran_ = true;
    position_ = bytes_.size();
    return false;
  }
  static void put_utf8(std::string& out, std::uint64_t c) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
      out += static_cast<char>(0xe0 | (c >> 12 & 0xf));
      out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  static std::string latin1(Bytes bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) put_utf8(out, byte);
    return out;
  }
  std::string chars() {
    std::string out;
    const std::uint64_t count = number();
    for (std::uint64_t i = 0; i < count && !overran_; ++i) put_utf8(out, number());
    return out;
  }

  Bytes bytes_;
  std::size_t position_ = 0;
  bool overran_ = false;
};

}  // namespace sonde::format::jfr
