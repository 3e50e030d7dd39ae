// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. How long a store is: the forms of mov that write a register or a constant to memory, which is what
// compilers make of one (Intel SDM, volume 2, 2.1 and MOV).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/signal_safe.h"

namespace sonde::agent {

// Bytes of the store at `code`, of which 15 can be read; 0 if it is something else.
inline std::size_t store_length(const std::uint8_t* code) SIGNAL_SAFE {
  std::size_t at = 0;
  const bool is_short = code[at] == 0x66;
  if (is_short) ++at;
  if ((code[at] & 0xf0U) == 0x40) ++at;  // REX
  const std::uint8_t opcode = code[at++];
  std::size_t constant = 0;
  switch (opcode) {
    case 0x88:
    case 0x89: break;
    case 0xc6: constant = 1; break;
    case 0xc7: constant = is_short ? 2 : 4; break;
    default: return 0;
  }
  const std::uint8_t modrm = code[at++];
  const std::uint8_t mode = modrm >> 6U;
  const std::uint8_t rm = modrm & 7U;
  if (mode == 3) return 0;  // to a register
  const bool has_sib = rm == 4;
  const std::uint8_t base = has_sib ? code[at++] & 7U : rm;
  const bool is_absolute = mode == 0 && base == 5;  // or relative to the instruction
  const std::size_t displacement = mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0;
  return at + displacement + constant;
}

}  // namespace sonde::agent
