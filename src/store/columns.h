// SPDX-License-Identifier: Apache-2.0
// A column of numbers as a blob: each as a varint (LEB128), the whole compressed by zstd with a checksum.
// Depths are written as differences, zigzag-coded: in preorder they are small.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace sonde::store {

class ColumnEncoder {
 public:
  ColumnEncoder();
  ~ColumnEncoder();
  ColumnEncoder(const ColumnEncoder&) = delete;
  ColumnEncoder& operator=(const ColumnEncoder&) = delete;

  // The blob is valid until the next call with the same `slot`.
  template <typename T, typename ToNumber>
  Bytes encode(std::size_t slot, std::span<const T> values, const ToNumber& to_number) {
    raw_.resize(values.size() * kMaxVarint);
    std::uint8_t* out = raw_.data();
    for (const T& value : values) out = put(out, to_number(value));
    return compress(slot, Bytes(raw_.data(), out));
  }

 private:
  static constexpr std::size_t kMaxVarint = 10;

  static std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    while (value >= 0x80) {
      *out++ = static_cast<std::uint8_t>(value | 0x80);
      value >>= 7;
    }
    *out++ = static_cast<std::uint8_t>(value);
    return out;
  }
  Bytes compress(std::size_t slot, Bytes raw);

  ZSTD_CCtx_s* context_;
  std::vector<std::uint8_t> raw_;
  std::vector<std::vector<std::uint8_t>> blobs_;
};

class ColumnDecoder {
 public:
  ColumnDecoder();
  ~ColumnDecoder();
  ColumnDecoder(const ColumnDecoder&) = delete;
  ColumnDecoder& operator=(const ColumnDecoder&) = delete;

  // Exactly `count` numbers, or an error. Valid until the next call.
  Result<std::span<const std::uint64_t>> decode(Bytes blob, std::size_t count);

 private:
  ZSTD_DCtx_s* context_;
  std::vector<std::uint8_t> raw_;
  std::vector<std::uint64_t> values_;
};

constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

}  // namespace sonde::store
