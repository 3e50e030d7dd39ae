// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto symbols = sonde::symbols::KernelSymbols::parse({reinterpret_cast<const char*>(data), size});
  for (std::uint64_t address = 1; address != 0; address <<= 1) (void)symbols.name_of(address).size();
  return 0;
}
