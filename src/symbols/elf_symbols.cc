// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace sonde::symbols {
namespace {

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

template <typename T>
std::optional<T> read(Bytes file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::optional<Bytes> contents(Bytes file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > file.size() ||
      file.size() - section.sh_offset < section.sh_size) {
    return std::nullopt;
  }
  return file.subspan(section.sh_offset, section.sh_size);
}

// A text in a table of texts, which ends with NUL.
std::string text_at(Bytes texts, std::uint64_t offset) {
  if (offset >= texts.size()) return "";
  const auto* begin = texts.data() + offset;
  const auto* end = std::find(begin, texts.data() + texts.size(), 0);
  return {begin, end};
}

}  // namespace

Result<ElfSymbols> ElfSymbols::parse(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr)) {
    return malformed("is no ELF file of 64 bits");
  }
  const auto section = [&](std::uint64_t i) {
    return read<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  std::optional<Elf64_Shdr> table;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto candidate = section(i);
    if (!candidate) return malformed("has sections outside of the file");
    if (candidate->sh_type == SHT_SYMTAB || (candidate->sh_type == SHT_DYNSYM && !table)) table = candidate;
  }
  ElfSymbols result;
  if (!table) return result;
  const auto texts_section = section(table->sh_link);
  const auto symbols = contents(file, *table);
  const auto texts = texts_section && table->sh_link < header->e_shnum ? contents(file, *texts_section) : std::nullopt;
  if (!symbols || !texts) return malformed("has a symbol table outside of the file");
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = *read<Elf64_Sym>(*symbols, at);
    const auto type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    std::string name = text_at(*texts, symbol.st_name);
    if (!name.empty()) {
      result.functions_.push_back({.begin = symbol.st_value, .size = symbol.st_size, .name = std::move(name)});
    }
  }
  // Of several names for one function the first in the alphabet, so that recordings agree.
  std::ranges::sort(result.functions_, {}, [](const Function& f) { return std::tie(f.begin, f.name); });
  return result;
}

std::string ElfSymbols::name_of(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
  if (after == functions_.begin()) return "";
  const std::uint64_t begin = std::prev(after)->begin;
  const auto first = std::ranges::lower_bound(functions_, begin, {}, &Function::begin);
  // Assembler does not always say how long a function is.
  const bool is_inside = address - begin < first->size || (first->size == 0 && address == begin);
  return is_inside ? readable(first->name) : "";
}

std::string readable(const std::string& linker_name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(linker_name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return linker_name;
  std::string name(text.get());
  // The parameters begin at the last parenthesis of depth 0 that is not part of "operator()" or "(anonymous
  // namespace)".
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] != '(' || --depth != 0) continue;
    const bool is_parameters =
        i != 0 && !name.substr(0, i).ends_with("operator") && !name.substr(i).starts_with("(anonymous namespace)");
    if (is_parameters) name.erase(i);
    break;
  }
  return name;
}

}  // namespace sonde::symbols
