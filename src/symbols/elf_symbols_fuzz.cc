// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto symbols = sonde::symbols::ElfSymbols::parse({data, size});
  if (!symbols.ok()) return 0;
  for (std::uint64_t address = 0; address < 4096; address += 64) (void)symbols->name_of(address);
  return 0;
}
