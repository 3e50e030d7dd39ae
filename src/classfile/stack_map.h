// SPDX-License-Identifier: Apache-2.0
// StackMapTable (JVMS 4.7.4): the frames that the verifier expects at branch targets.
//
//   StackMapTable   the compressed form as a view, checked: what a frame says and where it stands
//   FrameList       the same frames written out in full (locals and stack of each)
//   FrameWriter     full frames back to the shortest compressed form
//
// Uninitialized types name the `new` that made them by its Pc; only FrameWriter turns that into a new offset.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/code.h"
#include "classfile/names.h"
#include "classfile/pool_builder.h"

namespace sonde::classfile {

enum class TypeTag : std::uint8_t {
  kTop = 0,
  kInteger = 1,
  kFloat = 2,
  kDouble = 3,
  kLong = 4,
  kNull = 5,
  kUninitializedThis = 6,
  kObject = 7,
  kUninitialized = 8,
};

struct VerificationType {
  TypeTag tag = TypeTag::kTop;
  std::uint16_t data = 0;  // kObject: pool index of the class; kUninitialized: Pc of the `new`

  [[nodiscard]] std::uint8_t slots() const { return tag == TypeTag::kDouble || tag == TypeTag::kLong ? 2 : 1; }
  [[nodiscard]] bool has_data() const { return tag >= TypeTag::kObject; }
  bool operator==(const VerificationType&) const = default;
};

// frame_type ranges of JVMS 4.7.4.
struct FrameType {
  static constexpr std::uint8_t kSameLocals1 = 64;
  static constexpr std::uint8_t kReserved = 128;
  static constexpr std::uint8_t kSameLocals1Extended = 247;
  static constexpr std::uint8_t kChop = 248;  // 248..250: the last 251 - type locals are gone
  static constexpr std::uint8_t kSameExtended = 251;
  static constexpr std::uint8_t kAppend = 252;  // 252..254: type - 251 more locals
  static constexpr std::uint8_t kFull = 255;
};

// How many verification types follow frame_type and offset_delta; a full frame says so itself.
constexpr std::uint32_t types_of(std::uint8_t type) {
  if (type < FrameType::kSameLocals1) return 0;
  if (type < FrameType::kReserved || type == FrameType::kSameLocals1Extended) return 1;
  return type >= FrameType::kAppend ? type - FrameType::kSameExtended : 0;
}

class StackMapTable {
 public:
  struct Frame {
    std::uint8_t type;       // frame_type as it stands in the file
    bool has_uninitialized;  // whether one of its types names a `new`
    Pc pc;
    Bytes body;  // what follows frame_type and offset_delta
  };

  // `content` is the attribute's, `code` the method it belongs to. Refills `table`.
  static Result<void> parse_into(const Code& code, const Attribute& attribute, StackMapTable& table);

  void clear() { frames_.clear(); }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }

 private:
  std::vector<Frame> frames_;
};

// Frames written out in full, in one array of types.
class FrameList {
 public:
  struct Frame {
    Pc pc;
    std::uint32_t first;  // of its types: locals, then stack
    std::uint32_t locals;
    std::uint32_t stack;
  };

  void clear();
  // Starts with the implicit frame of the method's entry, then every frame of the table. Parameter types that the
  // constant pool does not have yet are added to it.
  void expand(const Code& code, const StackMapTable& table, PoolBuilder& pool);
  // A frame made elsewhere (type simulation).
  void add(Pc pc, std::span<const VerificationType> locals, std::span<const VerificationType> stack);

  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }
  [[nodiscard]] std::span<const VerificationType> locals(const Frame& f) const {
    return {types_.data() + f.first, f.locals};
  }
  [[nodiscard]] std::span<const VerificationType> stack(const Frame& f) const {
    return {types_.data() + f.first + f.locals, f.stack};
  }
  // The explicit frame at pc, or null. The implicit entry frame is not one of them.
  [[nodiscard]] const Frame* find(Pc pc) const;
  [[nodiscard]] const Frame& entry() const { return frames_.front(); }

 private:
  std::vector<Frame> frames_;
  std::vector<VerificationType> types_;
};

// Locals at method entry (JVMS 4.10.1.6): `this` if any, then the parameters.
void append_entry_locals(const Code& code, PoolBuilder& pool, std::vector<VerificationType>& locals);

// What the verifier calls the type of a descriptor that starts with this letter: int for Z, B, C, S and I, top for V.
TypeTag tag_of_descriptor(char letter);

// The verification type of a field descriptor.
VerificationType type_of_descriptor(std::string_view descriptor, PoolBuilder& pool);

// Encodes frames in ascending order of their offsets, each against the one before it.
class FrameWriter {
 public:
  // `scratch` is memory to use.
  FrameWriter(ByteWriter& out, std::span<const VerificationType> entry_locals, std::vector<VerificationType>& scratch)
      : out_(out), previous_(scratch) {
    previous_.assign(entry_locals.begin(), entry_locals.end());
  }

  // Types with a Pc must have it replaced by its final offset already.
  void add(std::uint32_t offset, std::span<const VerificationType> locals, std::span<const VerificationType> stack);
  [[nodiscard]] std::uint16_t count() const { return count_; }

 private:
  void header(std::uint8_t short_type, std::uint8_t extended_type, std::uint32_t delta);
  void type(VerificationType type);
  void types(std::span<const VerificationType> types);

  ByteWriter& out_;
  std::vector<VerificationType>& previous_;
  std::uint32_t previous_offset_ = 0;
  std::uint16_t count_ = 0;
};

}  // namespace sonde::classfile
