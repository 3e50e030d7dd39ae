// SPDX-License-Identifier: Apache-2.0
// Turns a parsed method and the edits a pass asked for into a new Code attribute.
//
//   1. the code array in one walk: original bytes, snippets between them; where everything ends up is noted
//   2. jumps get their offsets. If one does not reach, it becomes wide and the walk is done again
//   3. the exception table and every attribute that holds code offsets (code_tables.cc)
//   4. StackMapTable (frame_assembler.cc)
//
// In the new code, at the place of an original instruction:
//
//      after(previous) ...      <- only reached by falling through
//      label(pc):               <- where jumps, handlers, frames, lines and ranges point
//      before(pc) ...
//      position(pc):            <- the instruction itself: Uninitialized types and type annotations point here
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/code_editor.h"
#include "classfile/frame_assembler.h"

namespace sonde::classfile {

// Old offsets to new ones.
class CodeMap {
 public:
  [[nodiscard]] std::uint32_t label(Pc pc) const { return labels_[pc.value()]; }
  [[nodiscard]] std::uint32_t position(Pc pc) const;
  [[nodiscard]] std::uint32_t old_length() const { return code_->length(); }
  // For tables whose offsets nobody checks against instruction starts: an offset inside an instruction moves with it.
  [[nodiscard]] std::uint32_t label_near(std::uint32_t offset) const {
    const bool exact = offset == old_length() || code_->is_instruction(Pc(offset));
    return exact ? labels_[offset] : position_near(offset);
  }
  [[nodiscard]] std::uint32_t position_near(std::uint32_t offset) const;
  // By old offset; filled where an instruction starts and at the end of the code.
  [[nodiscard]] const std::uint32_t* labels() const { return labels_.data(); }
  [[nodiscard]] const Code& code() const { return *code_; }
  [[nodiscard]] std::uint32_t stub(StubId id) const { return stubs_[id.value()]; }
  [[nodiscard]] std::uint32_t of(Target target) const {
    return target.is_stub() ? stub(target.stub()) : label(target.pc());
  }

 private:
  friend class CodeAssembler;

  const Code* code_ = nullptr;
  const CodeEdits* edits_ = nullptr;
  std::vector<std::uint32_t> labels_;  // by old offset, where an instruction starts; then the end of the original code
  std::vector<std::uint32_t> stubs_;
};

class CodeAssembler {
 public:
  // Writes the content of a Code attribute. An error leaves `out` with garbage behind its old end.
  Result<void> assemble(const Code& code, const StackMapTable& stack_maps, CodeEdits& edits, PoolBuilder& pool,
                        ByteWriter& out);

 private:
  struct Context {
    const Code& code;
    const StackMapTable& stack_maps;
    const CodeEdits& edits;
    PoolBuilder& pool;
    ByteWriter& out;
  };

  [[nodiscard]] std::uint32_t largest_size(const Context& context) const;
  // Each writes at `to` and returns the end of what it wrote. `base` is where the code begins.
  std::uint8_t* write_code(const Context& context, std::uint8_t* base);
  std::uint8_t* write_jump(Instruction insn, std::uint8_t* base, std::uint8_t* to, bool wide) const;
  std::uint8_t* write_stubs(const Context& context, std::uint8_t* base, std::uint8_t* to);

  // Settle the offsets of jumps that were written without one. False if one of them has to become wide first.
  bool link(const Context& context, std::uint8_t* base);
  bool link_branch(const Context& context, std::uint8_t* base, std::size_t jump);
  void link_switch(const Context& context, std::uint8_t* base, std::size_t jump);
  bool link_stubs(const Context& context, std::uint8_t* base);
  [[nodiscard]] std::uint32_t target_of(const Context& context, Pc from, std::uint32_t which, Pc original) const;

  void write_handlers(const Context& context);
  Result<void> write_attributes(const Context& context);
  [[nodiscard]] std::uint32_t max_stack(const Context& context) const;
  void collect_inner_frames(const Context& context);

  CodeMap map_;
  FrameAssembler frames_;
  std::vector<std::uint32_t> jump_positions_;  // by index into Code::jumps()
  std::vector<std::uint8_t> wide_jumps_;       // the same
  std::vector<std::uint8_t> wide_stubs_;       // by StubId
};

// Rewrites one attribute of Code whose content holds code offsets; false if it holds none and may be copied.
// StackMapTable is not among them.
Result<bool> rewrite_code_table(const Attribute& attribute, const CodeMap& map, const std::vector<Handler>& handlers,
                                ByteWriter& out);

}  // namespace sonde::classfile
