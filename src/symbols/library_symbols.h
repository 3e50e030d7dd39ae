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
  // "libjvm.so: JavaCalls::call", or "libjvm.so+0x8a3f20" if the library does not tell. Kernels are
  // called as base/running_kernel.h does.
  std::string name_of(const std::string& path, std::uint64_t offset);

 private:
  const ElfSymbols* symbols_of(const std::string& path);
  // Without names if it is not the one that runs.
  const KernelSymbols& kernel_of(const std::string& path);

  std::unordered_map<std::string, std::optional<ElfSymbols>> libraries_;
  std::unordered_map<std::string, KernelSymbols> kernels_;
};

}  // namespace sonde::symbols
