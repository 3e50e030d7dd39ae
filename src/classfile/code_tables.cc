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
  Patcher(const Attribute& attribute, const CodeMap& map, const std::vector<Handler>& handlers, ByteWriter& out)
      : reader_(attribute.content), begin_(out.size()), map_(map), handlers_(handlers), out_(out) {
    out.bytes(attribute.content);
  }

  // The one table that nearly every method has, so it is walked without the reader.
  void line_numbers() {
    constexpr std::size_t kRow = 4;
    const std::size_t rows = reader_.u2();
    if (reader_.remaining() != rows * kRow) return;
    std::uint8_t* row = out_.data() + begin_ + 2;
    const std::uint32_t* const labels = map_.labels();
    const Code& code = map_.code();
    for (std::size_t i = 0; i < rows; ++i, row += kRow) {
      const std::uint32_t pc = load_u2(row);
      const std::uint32_t label =
          code.is_instruction(Pc(pc)) ? labels[pc] : map_.label_near(checked(pc, map_.old_length() - 1));
      store_u2(row, static_cast<std::uint16_t>(label));
    }
    reader_.skip(rows * kRow);
  }

  void local_variables() {
    for (std::uint16_t n = reader_.u2(); n > 0 && !reader_.overran(); --n) {
      range();
      reader_.skip(6);
    }
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

  void patch(std::size_t position, std::uint32_t value) {
    if (!reader_.overran()) out_.patch_u2(begin_ + position, static_cast<std::uint16_t>(value));
  }
  // An offset of the original code; 0 in place of one that lies outside of it.
  std::uint32_t checked(std::uint32_t offset, std::uint32_t limit) {
    damaged_ = damaged_ || offset > limit;
    return offset > limit ? 0 : offset;
  }
  void instruction() {
    const std::size_t at = reader_.position();
    patch(at, map_.position_near(checked(reader_.u2(), map_.old_length() - 1)));
  }
  void range() {
    const std::size_t at = reader_.position();
    const std::uint32_t start = checked(reader_.u2(), map_.old_length());
    const std::uint32_t end = checked(start + reader_.u2(), map_.old_length());
    patch(at, map_.label_near(start));
    patch(at + 2, map_.label_near(end) - map_.label_near(start));
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
  std::size_t begin_;
  const CodeMap& map_;
  const std::vector<Handler>& handlers_;
  ByteWriter& out_;
  bool damaged_ = false;
};

}  // namespace

Result<bool> rewrite_code_table(const Attribute& attribute, const CodeMap& map, const std::vector<Handler>& handlers,
                                ByteWriter& out) {
  using namespace attribute;
  const std::string_view name = attribute.name;
  const bool lines = name == kLineNumberTable;
  const bool variables = name == kLocalVariableTable || name == kLocalVariableTypeTable;
  const bool annotations = name == kRuntimeVisibleTypeAnnotations || name == kRuntimeInvisibleTypeAnnotations;
  if (!lines && !variables && !annotations) return false;
  Patcher patcher(attribute, map, handlers, out);
  if (lines) patcher.line_numbers();
  if (variables) patcher.local_variables();
  if (annotations) patcher.type_annotations();
  if (!patcher.fits()) {
    return Error{ErrorCode::kMalformed,
                 "does not fit its length or the code",
                 {.path = "Code, " + std::string(name), .byte_offset = attribute.offset}};
  }
  return true;
}

}  // namespace sonde::classfile
