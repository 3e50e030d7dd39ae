// SPDX-License-Identifier: Apache-2.0
// One instruction in a code array that Code::parse has checked, and the loop over all of them:
//   for (const Instruction insn : code.instructions()) { ... insn.pc(), insn.opcode(), insn.branch_target() ... }
// Instructions are views of a few words; nothing is allocated.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

#include "base/bytes.h"
#include "classfile/names.h"
#include "classfile/opcode.h"

namespace sonde::classfile {

// Offset of the first operand word of a switch whose opcode is at `pc`: operands are aligned to four bytes.
constexpr std::uint32_t switch_operands(std::uint32_t pc) { return (pc & ~3U) + 4; }

// tableswitch and lookupswitch alike: a default and cases with ascending keys.
class Switch {
 public:
  Switch(const std::uint8_t* code, std::uint32_t pc);

  [[nodiscard]] bool is_table() const { return is_table_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }  // cases, without the default
  [[nodiscard]] Pc default_target() const { return target_at(0); }
  [[nodiscard]] std::int32_t key(std::uint32_t i) const;
  [[nodiscard]] Pc target(std::uint32_t i) const;
  [[nodiscard]] std::int32_t low() const { return static_cast<std::int32_t>(load_u4(operands_ + 4)); }  // tableswitch
  // Opcode, padding and operands. Only meaningful for a size that fits; the parser checks that first.
  [[nodiscard]] std::uint64_t length() const;

 private:
  [[nodiscard]] Pc target_at(std::uint64_t offset) const {
    return Pc(pc_ + load_u4(operands_ + offset));  // two's complement: wraps as a signed offset would
  }
  const std::uint8_t* operands_;
  std::uint32_t pc_;
  std::uint32_t size_;
  bool is_table_;
};

class Instruction {
 public:
  Instruction(const std::uint8_t* code, std::uint32_t pc) : code_(code), pc_(pc) {}

  [[nodiscard]] Pc pc() const { return Pc(pc_); }
  [[nodiscard]] Pc next_pc() const { return Pc(pc_ + length()); }
  [[nodiscard]] std::uint32_t length() const {
    const std::uint8_t fixed = kLengths[code_[pc_]];
    return fixed != 0 ? fixed : variable_length();
  }
  [[nodiscard]] bool is_wide() const { return raw_opcode() == Opcode::wide; }
  // The instruction that is executed: what `wide` modifies, never `wide` itself.
  [[nodiscard]] Opcode opcode() const { return is_wide() ? static_cast<Opcode>(code_[pc_ + 1]) : raw_opcode(); }
  [[nodiscard]] Bytes bytes() const { return {code_ + pc_, length()}; }

  [[nodiscard]] PoolIndex pool_index() const {
    return PoolIndex(raw_opcode() == Opcode::ldc ? code_[pc_ + 1] : load_u2(code_ + pc_ + 1));
  }
  // For iload, istore ... ret, iinc and the forms with a number in their name.
  [[nodiscard]] LocalIndex local() const;
  [[nodiscard]] std::int32_t increment() const {  // iinc
    return is_wide() ? static_cast<std::int16_t>(load_u2(code_ + pc_ + 4)) : static_cast<std::int8_t>(code_[pc_ + 2]);
  }
  [[nodiscard]] std::int32_t immediate() const {  // bipush, sipush
    return raw_opcode() == Opcode::bipush ? static_cast<std::int8_t>(code_[pc_ + 1])
                                          : static_cast<std::int16_t>(load_u2(code_ + pc_ + 1));
  }
  [[nodiscard]] std::uint8_t operand_u1(std::uint32_t offset) const { return code_[pc_ + offset]; }
  [[nodiscard]] bool is_branch() const {
    const OperandFormat format = info_of(raw_opcode()).format;
    return format == OperandFormat::branch2 || format == OperandFormat::branch4;
  }
  [[nodiscard]] Pc branch_target() const {
    if (raw_opcode() >= Opcode::goto_w) return Pc(pc_ + load_u4(code_ + pc_ + 1));
    return Pc(pc_ + static_cast<std::uint32_t>(static_cast<std::int16_t>(load_u2(code_ + pc_ + 1))));
  }
  [[nodiscard]] bool is_switch() const {
    return raw_opcode() == Opcode::tableswitch || raw_opcode() == Opcode::lookupswitch;
  }
  [[nodiscard]] Switch as_switch() const { return {code_, pc_}; }

 private:
  [[nodiscard]] Opcode raw_opcode() const { return static_cast<Opcode>(code_[pc_]); }
  [[nodiscard]] std::uint32_t variable_length() const;

  const std::uint8_t* code_;
  std::uint32_t pc_;
};

class InstructionRange {
 public:
  // `starts` are the offsets of all instructions and, last, the length of the code.
  InstructionRange(Bytes code, std::span<const std::uint16_t> starts) : code_(code), starts_(starts) {}

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Instruction;
    Iterator(const std::uint8_t* code, const std::uint16_t* start) : code_(code), start_(start) {}
    Instruction operator*() const { return {code_, *start_}; }
    Iterator& operator++() {
      ++start_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const Iterator& other) const { return start_ == other.start_; }

   private:
    const std::uint8_t* code_;
    const std::uint16_t* start_;
  };

  [[nodiscard]] Iterator begin() const { return {code_.data(), starts_.data()}; }
  [[nodiscard]] Iterator end() const {
    return {code_.data(), starts_.data() + (starts_.empty() ? 0 : starts_.size() - 1)};
  }

 private:
  Bytes code_;
  std::span<const std::uint16_t> starts_;
};

}  // namespace sonde::classfile
