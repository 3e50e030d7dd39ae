// SPDX-License-Identifier: Apache-2.0
// Writes a snippet: a short run of instructions that an edit puts into a method. A snippet's bytes do not depend on
// where they end up, since its jumps stay inside of it, so one snippet can be inserted at many places.
//
// The operand stack below a snippet is whatever the place has; the builder counts only what the snippet itself adds.
// A snippet leaves the stack as it found it (unless it ends in athrow), and its labels are placed at that height.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/id.h"
#include "classfile/names.h"
#include "classfile/opcode.h"
#include "classfile/pool_builder.h"

namespace sonde::classfile {

enum class LocalType : std::uint8_t { kInt, kLong, kObject };

class CodeBuilder {
 public:
  using Label = Id<struct LabelTag, std::uint32_t>;

  CodeBuilder(ByteWriter& out, PoolBuilder& pool);

  CodeBuilder& op(Opcode opcode);  // an instruction without operands
  CodeBuilder& push(std::int32_t value);
  CodeBuilder& push_long(std::int64_t value);
  CodeBuilder& load(LocalType type, LocalIndex local);
  CodeBuilder& store(LocalType type, LocalIndex local);
  CodeBuilder& iinc(LocalIndex local, std::int32_t by);
  CodeBuilder& invoke_static(const MemberRef& method);

  Label new_label();
  CodeBuilder& branch(Opcode opcode, Label target);
  CodeBuilder& place(Label label);

  // What CodeEditor needs to know of the finished snippet.
  [[nodiscard]] std::uint32_t max_stack() const { return static_cast<std::uint32_t>(max_depth_); }
  [[nodiscard]] bool is_valid() const { return valid_; }
  void finish(std::vector<std::uint32_t>& frame_offsets);

 private:
  struct LabelState {
    std::uint32_t offset = kUnplaced;
    bool targeted = false;
  };
  struct Fixup {
    std::uint32_t branch;  // offset of the branch instruction
    Label label;
  };
  static constexpr std::uint32_t kUnplaced = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(out_.size()) - begin_; }
  void adjust(Opcode opcode);
  void adjust(std::int32_t popped, std::int32_t pushed);
  void emit(Opcode opcode) { out_.u1(static_cast<std::uint8_t>(opcode)); }
  void local_op(Opcode opcode, LocalIndex local);
  void constant(PoolIndex index);

  ByteWriter& out_;
  PoolBuilder& pool_;
  std::uint32_t begin_;
  std::int32_t depth_ = 0;
  std::int32_t max_depth_ = 0;
  bool valid_ = true;
  std::vector<LabelState> labels_;
  std::vector<Fixup> fixups_;
};

}  // namespace sonde::classfile
