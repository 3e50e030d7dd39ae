// SPDX-License-Identifier: Apache-2.0
// The frames of a StackMapTable (JVMS 4.7.4) as they are written, one after the other, without working out what they
// leave unsaid. For the printer and the checks; the editor's model, where every frame is complete, is stack_map.h.
// That two readers of one format exist is on purpose: the javap comparison tests this one, the verifier the other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/names.h"

namespace sonde::classfile {

// A verification_type_info.
struct RawType {
  enum Tag : std::uint8_t {
    kTop,
    kInteger,
    kFloat,
    kDouble,
    kLong,
    kNull,
    kUninitializedThis,
    kObject,
    kUninitialized
  };

  std::uint8_t tag = kTop;
  std::uint16_t operand = 0;  // kObject: index of a Class entry; kUninitialized: pc of the `new`

  [[nodiscard]] std::uint32_t slots() const { return tag == kLong || tag == kDouble ? 2 : 1; }
};

struct RawFrame {
  std::uint8_t frame_type = 0;
  std::uint32_t pc = 0;           // where it applies
  std::uint32_t byte_offset = 0;  // of frame_type in the attribute's content
  std::uint8_t chopped = 0;       // chop_frame: how many locals are gone
  std::vector<RawType> locals;    // append_frame: the added ones; full_frame: all
  std::vector<RawType> stack;     // same_locals_1_stack_item_frame: one; full_frame: all

  [[nodiscard]] bool is_full() const { return frame_type == 255; }
  [[nodiscard]] bool is_append() const { return frame_type >= 252 && frame_type <= 254; }
};

// "same_locals_1_stack_item_frame_extended" without its "_frame", as javap has it.
std::string_view name_of_frame_type(std::uint8_t frame_type);

class RawFrameReader {
 public:
  explicit RawFrameReader(Bytes content) : reader_(content), left_(reader_.u2()), count_(left_) {}

  [[nodiscard]] std::uint16_t count() const { return count_; }
  // Reads the next frame into `frame`, whose memory is used again. False after the last one; an error if the bytes do
  // not hold number_of_entries frames and nothing else.
  Result<bool> next(RawFrame& frame);

 private:
  void read_types(std::size_t count, std::vector<RawType>& types);
  [[nodiscard]] Error malformed(std::string message) const;

  ByteReader reader_;
  std::uint16_t left_;
  std::uint16_t count_;
  std::uint32_t frame_number_ = 0;
  std::uint32_t pc_ = 0;
  int bad_tag_ = -1;
};

}  // namespace sonde::classfile
