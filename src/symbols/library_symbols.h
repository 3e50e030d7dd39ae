// SPDX-License-Identifier: Apache-2.0
// Names for functions that the agent recorded as a library and an offset. Files are read when they are first asked for;
// one that is not there any more gives no names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbols/elf_symbols.h"
#include "symbols/kernel_symbols.h"

namespace sonde::symbols {

class LibrarySymbols {
 public:
  // "libjvm.so: JavaCalls::call", or "libjvm.so+0x8a3f20" if the library does not tell. The kernel that runs is
  // "[kernel ID]", with the id that this start of it has.
  std::string name_of(const std::string& path, std::uint64_t offset);

 private:
  const ElfSymbols* symbols_of(const std::string& path);
  const KernelSymbols* kernel_of(const std::string& path);

  std::unordered_map<std::string, std::optional<ElfSymbols>> libraries_;
  std::optional<KernelSymbols> kernel_;
};

}  // namespace sonde::symbols
