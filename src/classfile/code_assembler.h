// SPDX-License-Identifier: Apache-2.0
// Turns a parsed method and the edits a pass asked for into a new Code attribute.
//
//   1. the code array in one walk: original bytes, snippets between them; where everything ends up is noted
//      (code_writer.cc)
//   2. jumps get their offsets. If one does not reach, it becomes wide and the walk is done again (code_linker.cc)
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
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/code_editor.h"
#include "classfile/frame_assembler.h"

namespace sonde::classfile {

// Old offsets to new ones.
class CodeMap {
 public:
  // Both are below 64 Ki once the size of the code has been checked. In one word, since many are written.
  class Place {
   public:
    Place() = default;
    Place(std::size_t label, std::size_t position) : both_(static_cast<std::uint32_t>(label | position << 16)) {}
    [[nodiscard]] std::uint32_t label() const { return both_ & 0xffff; }
    [[nodiscard]] std::uint32_t position() const { return both_ >> 16; }

   private:
    std::uint32_t both_ = 0;
  };

  [[nodiscard]] std::uint32_t label(Pc pc) const { return places_[pc.value()].label(); }
  [[nodiscard]] std::uint32_t position(Pc pc) const { return places_[pc.value()].position(); }
  [[nodiscard]] std::uint32_t old_length() const { return code_->length(); }
  [[nodiscard]] std::uint32_t new_length() const { return new_length_; }
  // For tables whose offsets nobody checks against instruction starts: an offset inside an instruction moves with it.
  [[nodiscard]] std::uint32_t label_near(std::uint32_t offset) const {
    const bool exact = offset == old_length() || code_->is_instruction(Pc(offset));
    return exact ? places_[offset].label() : position_near(offset);
  }
  [[nodiscard]] std::uint32_t position_near(std::uint32_t offset) const;
  [[nodiscard]] const Code& code() const { return *code_; }
  [[nodiscard]] std::span<const Place> places() const { return places_; }  // by old offset, where instructions start
  [[nodiscard]] std::uint32_t stub(StubId id) const { return stubs_[id.value()]; }
  [[nodiscard]] std::uint32_t of(Target target) const {
    return target.is_stub() ? stub(target.stub()) : label(target.pc());
  }

 private:
  friend class CodeAssembler;

  const Code* code_ = nullptr;
  std::uint32_t new_length_ = 0;
  // By old offset; filled where an instruction starts and at the end of the code. Only grows.
  std::vector<Place> places_;
  std::vector<std::uint32_t> stubs_;
};

class CodeAssembler {
 public:
  // Writes the content of a Code attribute. An error leaves `out` with garbage behind its old end.
  Result<void> assemble(const Code& code, const StackMapTable& stack_maps, CodeEdits& edits, PoolBuilder& pool,
                        ByteWriter& out);
  // Where the instructions of the method assembled last are now.
  [[nodiscard]] const CodeMap& map() const { return map_; }

 private:
  struct Context {
    const Code& code;
    const StackMapTable& stack_maps;
    const CodeEdits& edits;
    PoolBuilder& pool;
    ByteWriter& out;
  };

  class Walk;

  static constexpr std::uint32_t kGoto = 3;  // sizes
  static constexpr std::uint32_t kGotoW = 5;
  static constexpr std::uint32_t kInvertedIf = 3;  // in front of a goto_w

  [[nodiscard]] const std::uint8_t* readable_code(const Code& code);
  void find_resized(const Code& code);
  [[nodiscard]] bool is_wide(std::size_t jump) const { return !wide_jumps_.empty() && wide_jumps_[jump] != 0; }
  [[nodiscard]] static std::size_t largest_size(const Context& context);
  // Each writes at an offset from `base`, where the code begins, and returns the offset of the end of what it wrote.
  // The first gives none if the insertions are not in order.
  std::optional<std::size_t> write_code(const Context& context, const std::uint8_t* original, std::uint8_t* base);
  [[gnu::noinline]] static std::size_t write_resized(Instruction insn, std::uint8_t* base, std::size_t at);
  static std::size_t write_snippet(const CodeEdits& edits, SnippetId id, std::uint8_t* base, std::size_t at);
  std::size_t write_stubs(const Context& context, std::uint8_t* base, std::size_t at);

  // Settle the offsets of jumps that were written without one. False if one of them has to become wide first.
  bool link(const Context& context, std::uint8_t* base);
  [[nodiscard]] std::size_t link_short_branches(const Code& code, std::uint8_t* base) const;
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
  std::uint32_t inserted_stack_ = 0;       // the largest max_stack of a snippet that was inserted
  std::vector<std::uint8_t> wide_jumps_;   // by index into Code::jumps(); empty as long as none is wide
  std::vector<std::uint8_t> wide_stubs_;   // by StubId
  std::vector<std::uint32_t> resized_;     // jumps that cannot be copied as they are: switches and wide ones; their Pc
  std::vector<std::uint8_t> padded_code_;  // the original code with room behind it, if the class has none
};

// Patches the copy of one attribute's content if it holds code offsets. StackMapTable is not among those it knows.
Result<void> patch_code_table(const CodeTable& table, const CodeMap& map, const std::vector<Handler>& handlers,
                              std::uint8_t* copy);

}  // namespace sonde::classfile
