// SPDX-License-Identifier: Apache-2.0
// The first half is the CIE, the second the FDE.
#include "agent/vm/native/cfi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::agent::native;
  const Entry cie{.bytes = {data, size / 2}, .address = 0x1000};
  const Entry fde{.bytes = {data + size / 2, size - size / 2}, .address = 0x2000};
  (void)cie_address(fde);
  for (std::uint64_t pc = 0; pc < 0x4000; pc += 0x101) (void)find_rule(cie, fde, pc);
  return 0;
}
