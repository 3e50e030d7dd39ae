// SPDX-License-Identifier: Apache-2.0
// Big-endian bytes with bounds: what class files, HPROF and JFR are made of.
//
// ByteReader never reads outside its span. A read past the end yields zeros and remembers where it happened, so a
// parser reads a whole structure and then asks once: `TRY(reader.check("field_info"))`. Forgetting to ask is a bug
// that the truncation tests of each parser find.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"

namespace sonde {

using Bytes = std::span<const std::uint8_t>;

inline std::uint16_t load_u2(const std::uint8_t* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<std::uint16_t>((v << 8) | (v >> 8));
}
inline std::uint32_t load_u4(const std::uint8_t* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline std::uint64_t load_u8(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline void store_u2(std::uint8_t* p, std::uint16_t v) {
  v = static_cast<std::uint16_t>((v << 8) | (v >> 8));
  std::memcpy(p, &v, sizeof v);
}
inline void store_u4(std::uint8_t* p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
static_assert(std::endian::native == std::endian::little, "the loads above swap");

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : begin_(bytes.data()), next_(begin_), end_(begin_ + bytes.size()) {}

  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(next_ - begin_); }
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }
  [[nodiscard]] bool at_end() const { return next_ == end_; }
  [[nodiscard]] bool overran() const { return overrun_at_ != kNone; }

  std::uint8_t u1() {
    const std::uint8_t* p = take(1);
    return p != nullptr ? *p : 0;
  }
  std::uint16_t u2() {
    const std::uint8_t* p = take(2);
    return p != nullptr ? load_u2(p) : 0;
  }
  std::uint32_t u4() {
    const std::uint8_t* p = take(4);
    return p != nullptr ? load_u4(p) : 0;
  }
  std::uint64_t u8() {
    const std::uint8_t* p = take(8);
    return p != nullptr ? load_u8(p) : 0;
  }
  // The next n bytes, or an empty span.
  Bytes bytes(std::size_t n) {
    const std::uint8_t* p = take(n);
    return p != nullptr ? Bytes(p, n) : Bytes();
  }
  void skip(std::size_t n) { (void)take(n); }
  // The next n bytes, checked once for a whole structure; null if there are fewer.
  const std::uint8_t* take(std::size_t n) {
    const std::uint8_t* taken = next_;
    if (n > remaining()) [[unlikely]] {
      if (!overran()) overrun_at_ = position();
      next_ = end_;
      return nullptr;
    }
    next_ += n;
    return taken;
  }

  // An error if any read so far went past the end; `what` names the structure being read.
  [[nodiscard, gnu::always_inline]] Result<void> check(std::string_view what) const {
    if (!overran()) [[likely]]
      return {};
    return truncated(what);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  [[nodiscard, gnu::cold]] Error truncated(std::string_view what) const;

  const std::uint8_t* begin_;
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  std::size_t overrun_at_ = kNone;
};

// A growing buffer. Keeps kSlack writable bytes past its end so that short copies can be done eight bytes at a time.
class ByteWriter {
 public:
  static constexpr std::size_t kSlack = 16;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Bytes view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::uint8_t* data() { return data_.get(); }
  void clear() { size_ = 0; }

  void u1(std::uint8_t v) { *extend(1) = v; }
  void u2(std::uint16_t v) { store_u2(extend(2), v); }
  void u4(std::uint32_t v) { store_u4(extend(4), v); }
  void u8(std::uint64_t v) {
    u4(static_cast<std::uint32_t>(v >> 32));
    u4(static_cast<std::uint32_t>(v));
  }
  void bytes(Bytes b) {
    if (!b.empty()) std::memcpy(extend(b.size()), b.data(), b.size());
  }
  void text(std::string_view t) { bytes(as_bytes(t)); }
  void zeros(std::size_t n) {
    if (n != 0) std::memset(extend(n), 0, n);
  }

  // n uninitialised bytes at the end, for the caller to fill.
  std::uint8_t* extend(std::size_t n) {
    if (capacity_ - size_ < n + kSlack) [[unlikely]]
      grow(n);
    size_ += n;
    return data_.get() + size_ - n;
  }
  // Gives back what extend() took too much of.
  void truncate(std::size_t size) { size_ = size; }

  void patch_u2(std::size_t at, std::uint16_t v) { store_u2(data_.get() + at, v); }
  void patch_u4(std::size_t at, std::uint32_t v) { store_u4(data_.get() + at, v); }

 private:
  void grow(std::size_t n);

  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace sonde
