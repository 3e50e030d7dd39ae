// SPDX-License-Identifier: Apache-2.0
#include "classfile/raw_frame.h"

#include <string>

namespace sonde::classfile {
namespace {

constexpr std::uint8_t kSameEnd = 64;
constexpr std::uint8_t kSameLocals1End = 128;
constexpr std::uint8_t kSameLocals1Extended = 247;
constexpr std::uint8_t kSameExtended = 251;  // also: the base that chop counts down from and append up from
constexpr std::uint8_t kFull = 255;

}  // namespace

std::string_view name_of_frame_type(std::uint8_t frame_type) {
  if (frame_type < kSameEnd) return "same";
  if (frame_type < kSameLocals1End) return "same_locals_1_stack_item";
  if (frame_type < kSameLocals1Extended) return "reserved";
  if (frame_type == kSameLocals1Extended) return "same_locals_1_stack_item_frame_extended";
  if (frame_type < kSameExtended) return "chop";
  if (frame_type == kSameExtended) return "same_frame_extended";
  return frame_type < kFull ? "append" : "full_frame";
}

Error RawFrameReader::malformed(std::string message) const {
  return {ErrorCode::kMalformed,
          std::move(message),
          {.path = "frame " + std::to_string(frame_number_), .byte_offset = reader_.position()}};
}

void RawFrameReader::read_types(std::size_t count, std::vector<RawType>& types) {
  for (std::size_t i = 0; i < count && !reader_.overran() && bad_tag_ < 0; ++i) {
    RawType type{.tag = reader_.u1()};
    if (type.tag > RawType::kUninitialized) bad_tag_ = type.tag;
    if (type.tag >= RawType::kObject) type.operand = reader_.u2();
    types.push_back(type);
  }
}

Result<bool> RawFrameReader::next(RawFrame& frame) {
  if (left_ == 0) {
    if (reader_.overran())
      return Error{ErrorCode::kTruncated, "no room for number_of_entries", {.path = {}, .byte_offset = 0}};
    if (reader_.at_end()) return false;
    return malformed(std::to_string(reader_.remaining()) + " bytes follow the last frame");
  }
  frame.locals.clear();
  frame.stack.clear();
  frame.chopped = 0;
  frame.byte_offset = static_cast<std::uint32_t>(reader_.position());
  frame.frame_type = reader_.u1();
  const std::uint8_t type = frame.frame_type;
  std::uint32_t delta = type;
  if (type >= kSameLocals1Extended) {
    delta = reader_.u2();
  } else if (type >= kSameLocals1End) {
    return malformed("frame_type " + std::to_string(type) + " is reserved");
  } else if (type >= kSameEnd) {
    delta = type - kSameEnd;
  }
  if (type == kSameLocals1Extended || (type >= kSameEnd && type < kSameLocals1End)) {
    read_types(1, frame.stack);
  } else if (type == kFull) {
    read_types(reader_.u2(), frame.locals);
    read_types(reader_.u2(), frame.stack);
  } else if (type > kSameExtended) {
    read_types(type - kSameExtended, frame.locals);
  } else if (type > kSameLocals1Extended) {
    frame.chopped = static_cast<std::uint8_t>(kSameExtended - type);
  }
  if (bad_tag_ >= 0) return malformed("unknown verification type " + std::to_string(bad_tag_));
  if (auto whole = reader_.check("the frame"); !whole.ok()) {
    return std::move(whole).error().within("frame " + std::to_string(frame_number_));
  }
  // The first delta is the offset itself; each later one says how far past the next byte its frame lies.
  pc_ = frame_number_ == 0 ? delta : pc_ + delta + 1;
  frame.pc = pc_;
  ++frame_number_;
  --left_;
  return true;
}

}  // namespace sonde::classfile
