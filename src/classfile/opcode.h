// SPDX-License-Identifier: Apache-2.0
// Opcodes and what is known of each without looking at its operands (opcodes.def).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sonde::classfile {

enum class Opcode : std::uint8_t {
#define OPCODE(value, id, mnemonic, format, effect, throws, flow) id = value,
#include "classfile/opcodes.def"
#undef OPCODE
};

// What follows the opcode byte.
enum class OperandFormat : std::uint8_t {
  none,
  s1,       // signed byte
  s2,       // signed short
  pool1,    // one-byte constant pool index
  pool2,    // two-byte constant pool index
  local,    // one-byte local variable index (two after wide)
  iinc,     // local, signed byte (two each after wide)
  branch2,  // signed 16-bit offset
  branch4,  // signed 32-bit offset
  tableswitch,
  lookupswitch,
  invokeinterface,  // pool2, count, 0
  invokedynamic,    // pool2, 0, 0
  newarray,         // array type code
  multianewarray,   // pool2, dimensions
  wide,
};

enum class Flow : std::uint8_t { next, branch, jump, call, select, end };

struct OpcodeInfo {
  std::string_view mnemonic;
  std::string_view effect;  // "II>I"; "*" if it depends on operands
  OperandFormat format;
  Flow flow;
  bool may_throw;
  std::uint8_t length;  // with operands; 0 where it varies (switches, wide)
};

inline constexpr int kOpcodeCount = 202;

constexpr std::uint8_t length_of(OperandFormat format) {
  switch (format) {
    case OperandFormat::none: return 1;
    case OperandFormat::s1:
    case OperandFormat::pool1:
    case OperandFormat::local:
    case OperandFormat::newarray: return 2;
    case OperandFormat::s2:
    case OperandFormat::pool2:
    case OperandFormat::iinc:
    case OperandFormat::branch2: return 3;
    case OperandFormat::multianewarray: return 4;
    case OperandFormat::branch4:
    case OperandFormat::invokeinterface:
    case OperandFormat::invokedynamic: return 5;
    case OperandFormat::tableswitch:
    case OperandFormat::lookupswitch:
    case OperandFormat::wide: return 0;
  }
  return 0;
}

inline constexpr std::array<OpcodeInfo, kOpcodeCount> kOpcodes = {{
#define OPCODE(value, id, mnemonic, format, effect, throws, flow) \
  {mnemonic, effect, OperandFormat::format, Flow::flow, throws != 0, length_of(OperandFormat::format)},
#include "classfile/opcodes.def"
#undef OPCODE
}};

// The same lengths by themselves: walks over code touch only these few cache lines.
inline constexpr std::array<std::uint8_t, 256> kLengths = [] {
  std::array<std::uint8_t, 256> lengths{};
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) lengths[i] = kOpcodes[i].length;
  return lengths;
}();

constexpr bool is_opcode(std::uint8_t byte) { return byte < kOpcodeCount; }
constexpr const OpcodeInfo& info_of(Opcode opcode) { return kOpcodes[static_cast<std::uint8_t>(opcode)]; }
constexpr Flow flow_of(Opcode opcode) { return info_of(opcode).flow; }

constexpr bool is_conditional(Opcode opcode) { return flow_of(opcode) == Flow::branch; }
constexpr bool is_return(Opcode opcode) { return opcode >= Opcode::ireturn && opcode <= Opcode::return_; }
constexpr bool is_invoke(Opcode opcode) { return opcode >= Opcode::invokevirtual && opcode <= Opcode::invokedynamic; }
// Whether execution may go on with the instruction that follows. jsr does, when its subroutine returns.
constexpr bool falls_through(Opcode opcode) {
  const Flow flow = flow_of(opcode);
  return flow == Flow::next || flow == Flow::branch || flow == Flow::call;
}

// The conditional branch that is taken exactly when `opcode` is not.
constexpr Opcode inverse_of(Opcode opcode) {
  const auto value = static_cast<std::uint8_t>(opcode);
  // ifeq..if_acmpne come in pairs from an odd value on, ifnull/ifnonnull from an even one.
  const bool even_pairs = opcode == Opcode::ifnull || opcode == Opcode::ifnonnull;
  return static_cast<Opcode>(even_pairs ? value ^ 1 : ((value + 1) ^ 1) - 1);
}
static_assert(inverse_of(Opcode::ifeq) == Opcode::ifne && inverse_of(Opcode::if_icmple) == Opcode::if_icmpgt);
static_assert(inverse_of(Opcode::if_acmpeq) == Opcode::if_acmpne && inverse_of(Opcode::ifnonnull) == Opcode::ifnull);

}  // namespace sonde::classfile
