// SPDX-License-Identifier: Apache-2.0
#include "classfile/instruction.h"

namespace sonde::classfile {

Switch::Switch(const std::uint8_t* code, std::uint32_t pc)
    : operands_(code + switch_operands(pc)), pc_(pc), is_table_(static_cast<Opcode>(code[pc]) == Opcode::tableswitch) {
  if (is_table_) {
    const auto high = static_cast<std::int32_t>(load_u4(operands_ + 8));
    size_ = static_cast<std::uint32_t>(static_cast<std::int64_t>(high) - low() + 1);
  } else {
    size_ = load_u4(operands_ + 4);
  }
}

std::int32_t Switch::key(std::uint32_t i) const {
  if (is_table_) return low() + static_cast<std::int32_t>(i);
  return static_cast<std::int32_t>(load_u4(operands_ + 8 + std::uint64_t{i} * 8));
}

Pc Switch::target(std::uint32_t i) const {
  return is_table_ ? target_at(12 + std::uint64_t{i} * 4) : target_at(12 + std::uint64_t{i} * 8);
}

std::uint64_t Switch::length() const {
  const std::uint64_t header = switch_operands(pc_) - pc_;
  return header + (is_table_ ? 12 + std::uint64_t{size_} * 4 : 8 + std::uint64_t{size_} * 8);
}

LocalIndex Instruction::local() const {
  if (is_wide()) return LocalIndex(load_u2(code_ + pc_ + 2));
  const Opcode opcode = raw_opcode();
  const auto value = static_cast<std::uint8_t>(opcode);
  if (opcode >= Opcode::iload_0 && opcode <= Opcode::aload_3) {
    return LocalIndex((value - static_cast<std::uint8_t>(Opcode::iload_0)) & 3);
  }
  if (opcode >= Opcode::istore_0 && opcode <= Opcode::astore_3) {
    return LocalIndex((value - static_cast<std::uint8_t>(Opcode::istore_0)) & 3);
  }
  return LocalIndex(code_[pc_ + 1]);
}

std::uint32_t Instruction::variable_length() const {
  if (is_wide()) return opcode() == Opcode::iinc ? 6 : 4;
  return static_cast<std::uint32_t>(as_switch().length());
}

}  // namespace sonde::classfile
