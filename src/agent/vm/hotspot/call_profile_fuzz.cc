// SPDX-License-Identifier: Apache-2.0
// Data of a method that holds one instruction of each kind that has an entry.
#include "agent/vm/hotspot/call_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  using namespace sonde::agent::hotspot;
  // iload_0, ifeq, invokestatic, goto, aload_1, checkcast, invokevirtual, invokedynamic, lookupswitch, return
  static constexpr std::uint8_t kCode[] = {0x1a, 0x99, 0, 10, 0xb8, 0,    1, 0xa7, 0, 3, 0x2b, 0xc0, 0, 2, 0xb6, 0,   3,
                                           0xba, 0,    4, 0,  0,    0xab, 0, 0,    0, 0, 11,   0,    0, 0, 0,    0xb1};
  for (const auto cells : {CellsBeforeReceivers::kOne, CellsBeforeReceivers::kTwo})
    (void)profiled_calls({data, size}, kCode, cells);
  return 0;
}
