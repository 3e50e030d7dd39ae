// SPDX-License-Identifier: Apache-2.0
// Writes the StackMapTable of an edited method. If no local and no frame was added, the original frames are copied
// with new offsets in the form they had. Otherwise they are expanded, joined with the new ones and encoded again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "classfile/code_editor.h"
#include "classfile/stack_map.h"
#include "classfile/type_state.h"

namespace sonde::classfile {

class CodeMap;

class FrameAssembler {
 public:
  void clear() { wanted_.clear(); }
  // A frame at a new offset with the types that hold before an instruction of the original code.
  void want(std::uint32_t offset, Pc like) {
    wanted_.push_back({.offset = offset, .frame = StubFrame::same_as(like), .entry = false});
  }
  void want(std::uint32_t offset, StubFrame frame) {
    wanted_.push_back({.offset = offset, .frame = frame, .entry = false});
  }
  // A frame inside entry code, where new locals hold nothing yet.
  void want_in_entry(std::uint32_t offset) {
    wanted_.push_back({.offset = offset, .frame = StubFrame::same_as(Pc(0)), .entry = true});
  }
  [[nodiscard]] bool wants_none() const { return wanted_.empty(); }

  // The content of the attribute, from number_of_entries on. Returns the number of frames.
  std::uint16_t write(const Code& code, const StackMapTable& table, const CodeEdits& edits, const CodeMap& map,
                      PoolBuilder& pool, ByteWriter& out);

 private:
  struct Wanted {
    std::uint32_t offset;
    StubFrame frame;
    bool entry;
  };

  static void relocate_copy(const StackMapTable::Frame& frame, const CodeMap& map, std::uint8_t* body);
  static void copy(const StackMapTable& table, const CodeMap& map, ByteWriter& out);
  void simulate_missing(const Code& code, const StackMapTable& table, PoolBuilder& pool);
  [[nodiscard]] const FrameList::Frame* state_before(Pc pc, const FrameList** list) const;
  // Locals and stack of a frame to be, in scratch_, with the new locals behind the method's own.
  bool compose(const Wanted& wanted, const Code& code, const CodeEdits& edits, PoolBuilder& pool);
  void append_new_locals(const Code& code, const CodeEdits& edits, PoolBuilder& pool);
  void relocate(std::vector<VerificationType>& types, const CodeMap& map) const;

  std::vector<Wanted> wanted_;
  FrameList explicit_;
  FrameList simulated_;  // sorted by pc; first element is a placeholder as in any FrameList
  std::vector<VerificationType> locals_;
  std::vector<VerificationType> stack_;
  std::vector<VerificationType> previous_;  // of the FrameWriter
};

}  // namespace sonde::classfile
