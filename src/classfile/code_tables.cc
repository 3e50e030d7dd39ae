// SPDX-License-Identifier: Apache-2.0
// The attributes of Code that hold code offsets: LineNumberTable (JVMS 4.7.12), LocalVariableTable (4.7.13),
// LocalVariableTypeTable (4.7.14) and the type annotations (4.7.20). None changes its size when code moves, so each is
// copied and its offsets are patched in place.
#include <string>

#include "classfile/code_assembler.h"

namespace sonde::classfile {
namespace {

// A walk over an attribute's content that patches the copy of it.
class Patcher {
 public:
  Patcher(Bytes content, const CodeMap& map, const std::vector<Handler>& handlers, std::uint8_t* copy)
      : reader_(content), map_(map), handlers_(handlers), copy_(copy) {}

  // Nearly every method has one of the first two tables, so they are walked without the reader.
  void line_numbers() {
    constexpr std::size_t kRow = 4;
    const std::size_t rows = reader_.u2();
    if (reader_.take(rows * kRow) == nullptr) return;
    // What is written are bytes, which might be anything for all the compiler knows: hence the copies of pointers.
    const std::span<const std::uint8_t> is_start = map_.code().is_start();
    const std::span<const CodeMap::Place> places = map_.places();
    std::uint8_t* row = copy_ + 2;
    for (std::uint8_t* const end = row + rows * kRow; row != end; row += kRow) {
      const std::uint32_t pc = load_u2(row);
      if (pc < is_start.size() && is_start[pc] != 0) [[likely]] {
        store_u2(row, u2_of(places[pc].label()));
      } else {
        store_u2(row, u2_of(label(pc, map_.old_length() - 1)));
      }
    }
  }

  void local_variables() {
    constexpr std::size_t kRow = 10;
    const std::size_t rows = reader_.u2();
    if (reader_.take(rows * kRow) == nullptr) return;
    std::uint8_t* row = copy_ + 2;
    for (std::uint8_t* const end = row + rows * kRow; row != end; row += kRow) patch_range(row);
  }

  void type_annotations() {
    for (std::uint16_t n = reader_.u2(); n > 0 && !reader_.overran(); --n) {
      target();
      reader_.skip(std::size_t{reader_.u1()} * 2);  // type_path
      annotation(0);
    }
  }

  // Whether the walk used up exactly what there is and met no offset outside of the code.
  [[nodiscard]] bool fits() const { return !reader_.overran() && reader_.at_end() && !damaged_; }

 private:
  // Annotations nest; Java's compilers stay below ten.
  static constexpr int kMaxNesting = 200;

  static std::uint16_t u2_of(std::uint32_t value) { return static_cast<std::uint16_t>(value); }
  void patch(std::size_t position, std::uint32_t value) {
    if (!reader_.overran()) store_u2(copy_ + position, u2_of(value));
  }
  // An offset of the original code; 0 in place of one that lies outside of it.
  std::uint32_t checked(std::uint32_t offset, std::uint32_t limit) {
    damaged_ = damaged_ || offset > limit;
    return offset > limit ? 0 : offset;
  }
  std::uint32_t label(std::uint32_t offset, std::uint32_t limit) {
    if (map_.code().is_instruction(Pc(offset))) [[likely]]
      return map_.label(Pc(offset));
    return map_.label_near(checked(offset, limit));
  }
  // start_pc and length
  void patch_range(std::uint8_t* range) {
    const std::uint32_t start = load_u2(range);
    const std::uint32_t new_start = label(start, map_.old_length());
    const std::uint32_t new_end = label(start + load_u2(range + 2), map_.old_length());
    store_u2(range, u2_of(new_start));
    store_u2(range + 2, u2_of(new_end - new_start));
  }
  void instruction() {
    const std::size_t at = reader_.position();
    patch(at, map_.position_near(checked(reader_.u2(), map_.old_length() - 1)));
  }
  void range() {
    const std::size_t at = reader_.position();
    if (reader_.take(4) != nullptr) patch_range(copy_ + at);
  }
  void handler() {
    const std::size_t at = reader_.position();
    const std::uint16_t origin = reader_.u2();
    for (std::size_t i = 0; i < handlers_.size(); ++i) {
      if (handlers_[i].origin == origin && origin != Handler::kNoOrigin)
        return patch(at, static_cast<std::uint32_t>(i));
    }
  }

  // target_info, by target_type.
  void target() {
    const std::uint8_t type = reader_.u1();
    switch (type) {
      case 0x00:
      case 0x01:
      case 0x16: return reader_.skip(1);
      case 0x10:
      case 0x11:
      case 0x12:
      case 0x17: return reader_.skip(2);
      case 0x40:
      case 0x41:
        for (std::uint16_t n = reader_.u2(); n > 0 && !reader_.overran(); --n) {
          range();
          reader_.skip(2);
        }
        return;
      case 0x42: return handler();
      case 0x43:
      case 0x44:
      case 0x45:
      case 0x46: return instruction();
      case 0x47:
      case 0x48:
      case 0x49:
      case 0x4a:
      case 0x4b: instruction(); return reader_.skip(1);
      default: return;  // 0x13..0x15 are empty; others are unknown and show as a length that does not fit
    }
  }

  void annotation(int depth) {
    reader_.skip(2);
    for (std::uint16_t n = reader_.u2(); n > 0 && !reader_.overran() && !damaged_; --n) {
      reader_.skip(2);
      element_value(depth + 1);
    }
  }

  void element_value(int depth) {
    if (depth > kMaxNesting) {
      damaged_ = true;
      return;
    }
    switch (reader_.u1()) {
      case 'e': return reader_.skip(4);
      case '@': return annotation(depth);
      case '[':
        for (std::uint16_t n = reader_.u2(); n > 0 && !reader_.overran() && !damaged_; --n) element_value(depth + 1);
        return;
      default: return reader_.skip(2);
    }
  }

  ByteReader reader_;
  const CodeMap& map_;
  const std::vector<Handler>& handlers_;
  std::uint8_t* copy_;
  bool damaged_ = false;
};

}  // namespace

Result<void> patch_code_table(const CodeTable& table, const CodeMap& map, const std::vector<Handler>& handlers,
                              std::uint8_t* copy) {
  Patcher patcher({table.begin + Attribute::kHeader, table.length}, map, handlers, copy);
  switch (table.kind) {
    case CodeTable::Kind::kLines: patcher.line_numbers(); break;
    case CodeTable::Kind::kVariables: patcher.local_variables(); break;
    case CodeTable::Kind::kTypeAnnotations: patcher.type_annotations(); break;
    default: return {};
  }
  if (!patcher.fits()) [[unlikely]] {
    const Attribute attribute = map.code().attribute_of(table);
    return Error{ErrorCode::kMalformed,
                 "does not fit its length or the code",
                 {.path = "Code, " + std::string(attribute.name), .byte_offset = attribute.offset}};
  }
  return {};
}

}  // namespace sonde::classfile
