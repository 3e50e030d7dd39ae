// SPDX-License-Identifier: Apache-2.0
// ByteReader for little-endian formats (zip, and jimage on the machines we support), with the same sticky overrun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace sonde::archive {

class LittleEndianReader {
 public:
  explicit LittleEndianReader(Bytes bytes) : reader_(bytes) {}

  [[nodiscard]] std::size_t position() const { return reader_.position(); }
  [[nodiscard]] std::size_t remaining() const { return reader_.remaining(); }
  [[nodiscard]] bool at_end() const { return reader_.at_end(); }
  [[nodiscard]] bool overran() const { return reader_.overran(); }

  std::uint8_t u1() { return reader_.u1(); }
  std::uint16_t u2() { return __builtin_bswap16(reader_.u2()); }
  std::uint32_t u4() { return __builtin_bswap32(reader_.u4()); }
  std::uint64_t u8() { return __builtin_bswap64(reader_.u8()); }
  Bytes bytes(std::size_t n) { return reader_.bytes(n); }
  void skip(std::size_t n) { reader_.skip(n); }

  [[nodiscard]] Result<void> check(std::string_view what) const { return reader_.check(what); }

 private:
  ByteReader reader_;
};

// True if `bytes` holds the four bytes of `signature` at `position`, which may lie anywhere.
inline bool has_signature(Bytes bytes, std::uint64_t position, std::uint32_t signature) {
  if (position > bytes.size()) return false;
  LittleEndianReader reader(bytes.subspan(position));
  return reader.u4() == signature && !reader.overran();
}

}  // namespace sonde::archive
