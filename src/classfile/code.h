// SPDX-License-Identifier: Apache-2.0
// The Code attribute of a method (JVMS 4.7.3) as a view. parse() walks every instruction once and checks opcodes,
// operands, branch targets and exception ranges, so that everything built on a Code (editor, flow graph, printer) can
// walk it without error paths. What it learns on the way (where instructions start, which ones jump) is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/instruction.h"

namespace sonde::classfile {

struct ExceptionEntry {
  Pc start;
  Pc end;  // exclusive
  Pc handler;
  PoolIndex catch_type;  // 0: any
};

// An attribute of Code, sorted by what has to be done with it when code moves.
struct CodeTable {
  enum class Kind : std::uint8_t { kOther, kLines, kVariables, kFrames, kTypeAnnotations };

  const std::uint8_t* begin;  // of its header
  std::uint32_t length;       // attribute_length
  Kind kind;
};

class Code {
 public:
  Code() = default;

  // Of a method with a Code attribute. Errors name the method and the pc.
  static Result<Code> parse(const ClassFile& cls, const Member& method);
  // The same into an existing object, so that its memory is used again: what class-load instrumentation does.
  static Result<void> parse_into(const ClassFile& cls, const Member& method, Code& code);

  [[nodiscard]] std::uint16_t max_stack() const { return max_stack_; }
  [[nodiscard]] std::uint16_t max_locals() const { return max_locals_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t length() const { return static_cast<std::uint32_t>(bytes_.size()); }
  [[nodiscard]] InstructionRange instructions() const { return {bytes_, starts()}; }
  [[nodiscard]] Instruction at(Pc pc) const { return {bytes_.data(), pc.value()}; }
  // By offset: 1 where an instruction starts.
  [[nodiscard]] std::span<const std::uint8_t> is_start() const { return is_start_; }
  [[nodiscard]] bool is_instruction(Pc pc) const { return pc.value() < length() && is_start_[pc.value()] != 0; }
  // Where instructions start, ascending; the code's length closes the list.
  [[nodiscard]] std::span<const std::uint16_t> starts() const { return {starts_.data(), starts_count_}; }
  [[nodiscard]] std::span<const Pc> jumps() const {
    return {jumps_.data(), jumps_count_};
  }  // branches and switches, ascending
  [[nodiscard]] bool has_switches() const { return has_switches_; }

  [[nodiscard]] const std::vector<ExceptionEntry>& exceptions() const { return exceptions_; }
  [[nodiscard]] const AttributeList& attributes() const { return attributes_; }
  [[nodiscard]] const std::vector<CodeTable>& tables() const { return tables_; }  // the same list
  [[nodiscard]] Attribute attribute_of(const CodeTable& table) const {
    return attributes_.at(static_cast<std::uint32_t>(table.begin - attributes_.bytes().data()));
  }
  [[nodiscard]] const CodeTable* stack_map_table() const {
    return stack_map_table_ != 0 ? &tables_[stack_map_table_ - 1] : nullptr;
  }
  [[nodiscard]] Bytes content() const { return content_; }        // of the Code attribute itself
  [[nodiscard]] std::uint32_t offset() const { return offset_; }  // of the content in the class file
  [[nodiscard]] const ClassFile& owner() const { return *cls_; }
  [[nodiscard]] const Member& method() const { return *method_; }

  // The line of the last LineNumberTable entry at or before pc.
  [[nodiscard]] std::optional<std::uint16_t> line_at(Pc pc) const;

 private:
  [[nodiscard]] Result<void> parse_structure();
  // A tight loop: inlined, it would have too few registers, and so it would with what is rare inlined into it.
  [[nodiscard, gnu::noinline]] Result<void> scan_instructions();
  [[nodiscard, gnu::noinline]] Result<std::uint32_t> variable_length(std::uint32_t pc) const;
  [[nodiscard, gnu::noinline]] bool rare_operand_fits(std::size_t pc) const;
  [[nodiscard, gnu::cold]] Error bad_operand(std::uint32_t pc) const;
  [[nodiscard]] Result<void> check_targets() const;
  [[nodiscard, gnu::cold]] Error bad_target(Pc from, Pc target) const;
  [[nodiscard, gnu::cold]] Error bad_instruction(std::size_t pc, std::string message) const;

  const ClassFile* cls_ = nullptr;
  const Member* method_ = nullptr;
  Bytes content_;
  std::uint32_t offset_ = 0;  // of the content in the class file
  std::uint16_t max_stack_ = 0;
  std::uint16_t max_locals_ = 0;
  Bytes bytes_;
  // The lists keep the size of the longest method seen; the counts say how much of each is this method's.
  std::vector<std::uint8_t> is_start_;  // 1 where an instruction starts
  std::vector<std::uint16_t> starts_;   // the same as a list, so that walks need not decode lengths
  std::vector<Pc> jumps_;
  std::size_t starts_count_ = 0;
  std::size_t jumps_count_ = 0;
  bool has_switches_ = false;
  std::vector<ExceptionEntry> exceptions_;
  AttributeList attributes_;
  std::vector<CodeTable> tables_;
  std::size_t stack_map_table_ = 0;  // one more than its index; 0: there is none
};

}  // namespace sonde::classfile
