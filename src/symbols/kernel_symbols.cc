// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbols.h"

#include <algorithm>
#include <charconv>

namespace sonde::symbols {
namespace {

// Letters of functions: 'w' if another may take its place, large if modules may call it.
constexpr std::string_view kCode = "tTwW";

}  // namespace

KernelSymbols KernelSymbols::parse(std::string text) {
  KernelSymbols symbols;
  symbols.text_ = std::move(text);
  const std::string_view all = symbols.text_;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = all.substr(begin, end - begin);
    std::uint64_t address = 0;
    const char* const behind = std::from_chars(line.data(), line.data() + line.size(), address, 16).ptr;
    const auto letter = static_cast<std::size_t>(behind - line.data()) + 1;
    const std::size_t name = letter + 2;
    // Zero is an address that we may not see.
    if (address != 0 && name < line.size() && kCode.find(line[letter]) != kCode.npos) {
      const std::size_t length = std::min(line.find_first_of("\t ", name), line.size()) - name;
      symbols.functions_.push_back({.begin = address,
                                    .name = static_cast<std::uint32_t>(begin + name),
                                    .length = static_cast<std::uint32_t>(length)});
    }
    begin = end + 1;
  }
  std::ranges::stable_sort(symbols.functions_, {}, &Function::begin);
  return symbols;
}

std::string_view KernelSymbols::name_of(std::uint64_t address) const {
  const auto next = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
  if (next == functions_.begin()) return "";
  const Function& function = *(next - 1);
  return std::string_view(text_).substr(function.name, function.length);
}

}  // namespace sonde::symbols
