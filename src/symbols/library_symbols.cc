// SPDX-License-Identifier: Apache-2.0
#include "symbols/library_symbols.h"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "base/mapped_file.h"
#include "base/running_kernel.h"

namespace sonde::symbols {

const ElfSymbols* LibrarySymbols::symbols_of(const std::string& path) {
  const auto [entry, is_new] = libraries_.try_emplace(path);
  std::optional<ElfSymbols>& symbols = entry->second;
  if (is_new && path.starts_with('/')) {
    if (const auto file = MappedFile::open(path); file.ok()) {
      if (auto parsed = ElfSymbols::parse(file->bytes()); parsed.ok()) symbols = std::move(parsed).value();
    }
  }
  return symbols ? &*symbols : nullptr;
}

const KernelSymbols& LibrarySymbols::kernel_of(const std::string& path) {
  const auto [entry, is_new] = kernels_.try_emplace(path);
  if (is_new && path == running_kernel()) {
    std::ifstream symbols("/proc/kallsyms");
    entry->second = KernelSymbols::parse({std::istreambuf_iterator<char>(symbols), std::istreambuf_iterator<char>()});
  }
  return entry->second;
}

std::string LibrarySymbols::name_of(const std::string& path, std::uint64_t offset) {
  const bool is_kernel = path.starts_with("[kernel ");
  const std::string library = is_kernel ? "kernel" : path.substr(path.rfind('/') + 1);
  std::string name;
  if (is_kernel) {
    name = kernel_of(path).name_of(offset);
  } else if (const ElfSymbols* symbols = symbols_of(path)) {
    name = symbols->name_of(offset);
  }
  if (!name.empty()) return library + ": " + name;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), offset, 16).ptr;
  return library + "+0x" + std::string(digits.begin(), end);
}

}  // namespace sonde::symbols
