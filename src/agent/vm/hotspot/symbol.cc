// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/symbol.h"

#include <cstring>

#include "agent/vm/hotspot/safe_memory.h"

namespace sonde::agent::hotspot {

std::string read_symbol(const Layout& layout, std::uint64_t symbol) {
  std::uint8_t start[64];
  // Most are shorter than this; one at the end of its memory is read again as long as it is.
  const bool has_start = read_memory(symbol, start, sizeof start);
  if (!has_start && !read_memory(symbol, start, layout.symbol_body)) return "";
  std::uint16_t length = 0;
  std::memcpy(&length, start + layout.symbol_length, sizeof length);
  std::string text(length, '\0');
  if (has_start && layout.symbol_body + length <= sizeof start) {
    std::memcpy(text.data(), start + layout.symbol_body, length);
    return text;
  }
  return read_memory(symbol + layout.symbol_body, text.data(), text.size()) ? text : "";
}

std::string_view symbol_text(const Layout& layout, std::uint64_t symbol) {
  const auto* begin = reinterpret_cast<const char*>(symbol);  // NOLINT(performance-no-int-to-ptr)
  std::uint16_t length = 0;
  std::memcpy(&length, begin + layout.symbol_length, sizeof length);
  return {begin + layout.symbol_body, length};
}

}  // namespace sonde::agent::hotspot
