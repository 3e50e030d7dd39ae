// SPDX-License-Identifier: Apache-2.0
// Call frame information as compilers write it into .eh_frame (System V ABI, "Exception Frames"; DWARF 5, 6.4): how to
// get from a frame to that of its caller at a given instruction. Bytes in, a rule out; the bytes may be anything.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace sonde::agent::native {

// Of x86-64. The canonical frame address (CFA) is the stack pointer before the call.
struct UnwindRule {
  enum class Base : std::uint8_t { kStackPointer, kFramePointer };
  Base cfa_base = Base::kStackPointer;
  bool fp_is_saved = false;
  std::int32_t cfa_offset = 8;
  std::int32_t return_offset = -8;  // of the return address, from the CFA
  std::int32_t fp_offset = 0;       // of the caller's frame pointer, from the CFA, if it is saved
};

// An entry of .eh_frame and where it lies: pointers in it are relative to themselves.
struct Entry {
  Bytes bytes;  // from its length on
  std::uint64_t address;
};

// Where the CIE of an FDE is; nothing if it is none.
std::optional<std::uint64_t> cie_address(const Entry& fde);

// The rule at an instruction; nothing if the FDE is not for it, or says what we do not understand.
std::optional<UnwindRule> find_rule(const Entry& cie, const Entry& fde, std::uint64_t pc);

}  // namespace sonde::agent::native
