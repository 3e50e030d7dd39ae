// SPDX-License-Identifier: Apache-2.0
// The part of the protobuf encoding that pprof needs (https://protobuf.dev/programming-guides/encoding): varints,
// length-delimited fields, packed numbers. Fields that are zero or empty are left out, as proto3 does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sonde::format::pprof {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, WireType::kVarint);
    varint(bytes_, value);
  }
  // Also if it is empty: in repeated fields the place counts.
  void text(std::uint32_t field, std::string_view value) {
    tag(field, WireType::kBytes);
    varint(bytes_, value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }
  void packed(std::uint32_t field, std::span<const std::uint64_t> values) {
    packed_.clear();
    for (const std::uint64_t value : values) varint(packed_, value);
    text(field, packed_);
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(std::uint32_t field, WireType type) {
    varint(bytes_, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
  }
  static void varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
      out += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out += static_cast<char>(value);
  }

  std::string bytes_;
  std::string packed_;
};

}  // namespace sonde::format::pprof
