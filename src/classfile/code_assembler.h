// SPDX-License-Identifier: Apache-2.0
// Turns a parsed method and the edits a pass asked for into a new Code attribute.
//
//   1. lay_out: where every instruction, insertion and stub ends up; again whenever a jump does not reach
//   2. the code array: runs of original bytes, snippets between them, jumps and switches with new offsets
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
  [[nodiscard]] std::uint32_t position(Pc pc) const { return positions_[pc.value()]; }
  [[nodiscard]] std::uint32_t old_length() const { return static_cast<std::uint32_t>(labels_.size() - 1); }
  // For tables whose offsets nobody checks against instruction starts: an offset inside an instruction moves with it.
  [[nodiscard]] std::uint32_t label_near(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t position_near(std::uint32_t offset) const;
  [[nodiscard]] std::uint32_t stub(StubId id) const { return stubs_[id.value()]; }
  [[nodiscard]] std::uint32_t of(Target target) const { return target.is_stub() ? stub(target.stub()) : label(target.pc()); }

 private:
  friend class CodeAssembler;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> labels_;     // by old offset; one more for the end of the original code
  std::vector<std::uint32_t> positions_;  // kNone where no instruction starts
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

  void lay_out(const Context& context);
  [[nodiscard]] std::uint32_t jump_length(Instruction insn, std::uint32_t position, bool wide) const;
  // True if a jump that was narrow has to become wide: lay out again.
  bool widen(const Context& context);
  [[nodiscard]] std::uint32_t target_of(const Context& context, Pc from, std::uint32_t which, Pc original) const;

  void write_code(const Context& context);
  void write_jump(const Context& context, Instruction insn, bool wide);
  void write_switch(const Context& context, Instruction insn);
  void write_snippet(const Context& context, SnippetId id);
  void write_stubs(const Context& context);
  void write_handlers(const Context& context);
  Result<void> write_attributes(const Context& context);
  [[nodiscard]] std::uint32_t max_stack(const Context& context) const;
  void collect_inner_frames(const Context& context);

  CodeMap map_;
  FrameAssembler frames_;
  std::vector<std::uint8_t> wide_jumps_;   // by index into Code::jumps()
  std::vector<std::uint8_t> wide_stubs_;  // by StubId
  std::uint32_t code_size_ = 0;            // after the last lay_out
};

// Rewrites one attribute of Code whose content holds code offsets; false if it holds none and may be copied.
// StackMapTable is not among them.
Result<bool> rewrite_code_table(const Attribute& attribute, const CodeMap& map, const std::vector<Handler>& handlers,
                                ByteWriter& out);

}  // namespace sonde::classfile
