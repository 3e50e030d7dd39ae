// SPDX-License-Identifier: Apache-2.0
// Protobuf fields of a message, one after the other, never outside its bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/pprof/protobuf.h"

namespace sonde::format::pprof {

struct Field {
  std::uint32_t number;
  WireType type;
  std::uint64_t value;  // of varints and fixed numbers
  Bytes bytes;          // of the rest
};

class WireReader {
 public:
  // `base` is where `bytes` lie in the file, for errors.
  explicit WireReader(Bytes bytes, std::uint64_t base = 0) : bytes_(bytes), base_(base) {}

  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] std::uint64_t offset() const { return base_ + position_; }

  Result<Field> next() {
    const std::uint64_t tag = TRY(varint());
    Field field = {.number = static_cast<std::uint32_t>(tag >> 3), .type = {}, .value = 0, .bytes = {}};
    if (tag >> 3 == 0 || tag >> 3 > kMaxField) return fail(ErrorCode::kMalformed, "a field has no valid number");
    switch (tag & 7) {
      case 0:
        field.type = WireType::kVarint;
        field.value = TRY(varint());
        return field;
      case 1: return fixed(field, WireType::kFixed64, 8);
      case 2: {
        field.type = WireType::kBytes;
        const std::uint64_t size = TRY(varint());
        if (size > bytes_.size() - position_) return fail(ErrorCode::kTruncated, "a field is longer than what is left");
        field.bytes = bytes_.subspan(position_, size);
        position_ += size;
        return field;
      }
      case 5: return fixed(field, WireType::kFixed32, 4);
      default: return fail(ErrorCode::kMalformed, "a field has an unknown wire type");
    }
  }

  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_end()) return fail(ErrorCode::kTruncated, "a number is cut off");
      const std::uint8_t byte = bytes_[position_++];
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return fail(ErrorCode::kMalformed, "a number has more than ten bytes");
  }

  // Where the bytes of a field lie in the file.
  [[nodiscard]] std::uint64_t offset_of(Bytes part) const {
    return base_ + static_cast<std::uint64_t>(part.data() - bytes_.data());
  }

 private:
  static constexpr std::uint64_t kMaxField = (std::uint64_t{1} << 29) - 1;

  Result<Field> fixed(Field field, WireType type, std::size_t size) {
    if (bytes_.size() - position_ < size) return fail(ErrorCode::kTruncated, "a number is cut off");
    field.type = type;
    for (std::size_t i = size; i-- > 0;) field.value = field.value << 8 | bytes_[position_ + i];
    position_ += size;
    return field;
  }
  [[nodiscard]] Error fail(ErrorCode code, std::string message) const {
    return {code, std::move(message), {.path = {}, .byte_offset = offset()}};
  }

  Bytes bytes_;
  std::uint64_t base_;
  std::size_t position_ = 0;
};

// A repeated number: packed, or a field for each.
inline Result<void> append_numbers(const Field& field, std::uint64_t base, std::vector<std::uint64_t>& out) {
  if (field.type == WireType::kVarint) {
    out.push_back(field.value);
    return {};
  }
  WireReader packed(field.bytes, base);
  while (!packed.at_end()) out.push_back(TRY(packed.varint()));
  return {};
}

}  // namespace sonde::format::pprof
