// SPDX-License-Identifier: Apache-2.0
#include "base/modified_utf8.h"

#include <cstdint>
#include <cstring>

namespace sonde {
namespace {

struct Decoded {
  std::uint32_t unit = 0;    // a UTF-16 code unit, or a character after pairing
  std::uint32_t length = 0;  // in bytes; 0: no character starts here
  bool overlong = false;
};

constexpr bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// One UTF-16 code unit.
Decoded decode_unit(const std::uint8_t* p, std::size_t left) {
  const std::uint8_t first = p[0];
  if (first < 0x80) return {.unit = first, .length = first == 0 ? 0U : 1U};
  if ((first & 0xE0) == 0xC0 && left >= 2 && is_continuation(p[1])) {
    const std::uint32_t unit = (first & 0x1FU) << 6 | (p[1] & 0x3FU);
    return {.unit = unit, .length = 2, .overlong = unit < 0x80 && unit != 0};
  }
  if ((first & 0xF0) == 0xE0 && left >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
    const std::uint32_t unit = (first & 0x0FU) << 12 | (p[1] & 0x3FU) << 6 | (p[2] & 0x3FU);
    return {.unit = unit, .length = 3, .overlong = unit < 0x800};
  }
  return {};
}

constexpr bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// A character, which may be a pair of surrogates.
Decoded decode_character(const std::uint8_t* p, std::size_t left) {
  Decoded first = decode_unit(p, left);
  if (!is_high_surrogate(first.unit) || first.length == left) return first;
  const Decoded second = decode_unit(p + first.length, left - first.length);
  if (second.length == 0 || !is_low_surrogate(second.unit)) return first;
  return {.unit = 0x10000 + ((first.unit - 0xD800) << 10) + (second.unit - 0xDC00),
          .length = first.length + second.length};
}

// Control characters, line and paragraph separators, and the invisible marks that reorder or hide text.
constexpr bool needs_escape(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xD800 && c < 0xE000) || c == 0xFEFF ||
         (c >= 0xFFF0 && c <= 0xFFFB) || c == 0xFFFE || c == 0xFFFF;
}

void append_hex(std::string& out, std::uint32_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 0xF];
}

void append_escape(std::string& out, std::uint32_t unit) {
  switch (unit) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += "\\u"; append_hex(out, unit, 4);
  }
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

// How many bytes from p on are ASCII other than zero, in steps of eight: nearly all text of nearly all classes.
std::size_t ascii_words(const std::uint8_t* p, std::size_t left) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::size_t done = 0;
  for (; left - done >= 8; done += 8) {
    std::uint64_t word;
    std::memcpy(&word, p + done, sizeof word);
    // A byte of 0 borrows in the subtraction and so sets its own high bit.
    if (((word | (word - kOnes)) & kHighBits) != 0) break;
  }
  return done;
}

// How many characters at the start are printed as they are, by far the most.
std::size_t plain_characters(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= ' ' && text[count] < 0x7F && text[count] != '\\') ++count;
  return count;
}

}  // namespace

bool is_valid_modified_utf8(std::string_view text, Overlong overlong) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t at = ascii_words(p, text.size());
  while (at < text.size()) {
    const Decoded next = decode_unit(p + at, text.size() - at);
    if (next.length == 0 || (next.overlong && overlong == Overlong::kRejected)) return false;
    at += next.length;
  }
  return true;
}

void append_printable(std::string& out, std::string_view text, std::size_t max_units) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t units = 0;
  for (std::size_t at = 0; at < text.size(); ++units) {
    if (const std::size_t plain = plain_characters(text.substr(at, max_units - units)); plain != 0) {
      out.append(text, at, plain);
      at += plain;
      units += plain;
      if (at == text.size()) return;
    }
    if (units >= max_units) {
      out += "...";
      return;
    }
    const Decoded next = decode_character(p + at, text.size() - at);
    if (next.length == 0) {
      out += "\\x";
      append_hex(out, p[at], 2);
      ++at;
      continue;
    }
    if (next.unit == '\\') {
      out += "\\\\";
    } else if (needs_escape(next.unit)) {
      append_escape(out, next.unit);
    } else {
      append_utf8(out, next.unit);
    }
    at += next.length;
  }
}

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

}  // namespace sonde
