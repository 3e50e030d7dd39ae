// SPDX-License-Identifier: Apache-2.0
#include "classfile/stack_map.h"

#include <algorithm>
#include <string>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

VerificationType read_type(ByteReader& reader) {
  VerificationType type{.tag = static_cast<TypeTag>(reader.u1())};
  if (type.has_data()) type.data = reader.u2();
  return type;
}

// Whether a type points at something that the class has.
bool fits(VerificationType type, const Code& code) {
  if (type.tag < TypeTag::kObject) [[likely]]
    return true;
  if (type.tag == TypeTag::kObject) [[likely]]
    return code.owner().pool().is(PoolIndex(type.data), Tag::kClass);
  return type.tag == TypeTag::kUninitialized && code.is_instruction(Pc(type.data));
}

// Reads what follows offset_delta. Stops at the first type that does not fit; the reader then stands behind it.
Result<void> check_body(ByteReader& reader, const Code& code, StackMapTable::Frame& frame) {
  const bool is_full = frame.type == FrameType::kFull;
  for (int lists = is_full ? 2 : 1; lists > 0; --lists) {
    for (std::uint32_t count = is_full ? reader.u2() : types_of(frame.type); count > 0; --count) {
      const VerificationType type = read_type(reader);
      if (reader.overran()) break;
      if (!fits(type, code)) [[unlikely]] {
        return Error{ErrorCode::kMalformed,
                     "verification type " + std::to_string(static_cast<int>(type.tag)) + " with " +
                         std::to_string(type.data) + " does not fit this class",
                     {.path = {}, .byte_offset = reader.position()}};
      }
      frame.has_uninitialized |= type.tag == TypeTag::kUninitialized;
    }
  }
  return reader.check("a frame");
}

}  // namespace

Result<void> StackMapTable::parse_into(const Code& code, const Attribute& attribute, StackMapTable& table) {
  table.frames_.clear();
  ByteReader reader(attribute.content);
  const std::uint16_t count = reader.u2();
  std::uint32_t pc = ~std::uint32_t{0};  // so that the first delta is the offset itself
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::size_t at = reader.position();
    const auto malformed = [&](std::string message) {
      return Error{ErrorCode::kMalformed,
                   std::move(message),
                   {.path = "StackMapTable, frame " + std::to_string(i), .byte_offset = attribute.offset + at}};
    };
    const std::uint8_t type = reader.u1();
    if (type >= FrameType::kReserved && type < FrameType::kSameLocals1Extended) [[unlikely]] {
      return malformed("reserved frame_type " + std::to_string(type));
    }
    pc += 1 + (type >= FrameType::kSameLocals1Extended ? reader.u2() : type & 63U);
    const std::size_t body = reader.position();
    Frame frame{.type = type, .has_uninitialized = false, .pc = Pc(pc), .body = {}};
    if (auto checked = check_body(reader, code, frame); !checked.ok()) [[unlikely]] {
      return std::move(checked).error().within("StackMapTable, frame " + std::to_string(i)).shifted(attribute.offset);
    }
    if (!code.is_instruction(Pc(pc))) [[unlikely]]
      return malformed("stands at " + std::to_string(pc) + ", where no instruction starts");
    frame.body = attribute.content.subspan(body, reader.position() - body);
    table.frames_.push_back(frame);
  }
  if (!reader.check("StackMapTable").ok() || !reader.at_end()) {
    return Error{ErrorCode::kMalformed,
                 "length does not fit its frames",
                 {.path = "StackMapTable", .byte_offset = attribute.offset}};
  }
  return {};
}

void FrameList::clear() {
  frames_.clear();
  types_.clear();
}

void FrameList::add(Pc pc, std::span<const VerificationType> locals, std::span<const VerificationType> stack) {
  frames_.push_back({.pc = pc,
                     .first = static_cast<std::uint32_t>(types_.size()),
                     .locals = static_cast<std::uint32_t>(locals.size()),
                     .stack = static_cast<std::uint32_t>(stack.size())});
  types_.insert(types_.end(), locals.begin(), locals.end());
  types_.insert(types_.end(), stack.begin(), stack.end());
}

void FrameList::expand(const Code& code, const StackMapTable& table, PoolBuilder& pool) {
  clear();
  append_entry_locals(code, pool, types_);
  frames_.push_back({.pc = Pc(0), .first = 0, .locals = static_cast<std::uint32_t>(types_.size()), .stack = 0});
  for (const StackMapTable::Frame& compressed : table.frames()) {
    const Frame before = frames_.back();
    Frame frame{.pc = compressed.pc, .first = static_cast<std::uint32_t>(types_.size()), .locals = 0, .stack = 0};
    ByteReader reader(compressed.body);
    const auto read = [&](std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) types_.push_back(read_type(reader));
      return count;
    };
    if (compressed.type == FrameType::kFull) {
      frame.locals = read(reader.u2());
      frame.stack = read(reader.u2());
    } else {
      const std::uint32_t chopped = compressed.type >= FrameType::kChop && compressed.type < FrameType::kSameExtended
                                        ? FrameType::kSameExtended - compressed.type
                                        : 0;
      frame.locals = before.locals - std::min(before.locals, chopped);
      types_.reserve(types_.size() + frame.locals);
      for (std::uint32_t i = 0; i < frame.locals; ++i) types_.push_back(types_[before.first + i]);
      if (compressed.type >= FrameType::kAppend) frame.locals += read(compressed.type - FrameType::kSameExtended);
      const bool one_on_stack = compressed.type == FrameType::kSameLocals1Extended ||
                                (compressed.type >= FrameType::kSameLocals1 && compressed.type < FrameType::kReserved);
      if (one_on_stack) frame.stack = read(1);
    }
    frames_.push_back(frame);
  }
}

const FrameList::Frame* FrameList::find(Pc pc) const {
  const auto found = std::lower_bound(frames_.begin() + 1, frames_.end(), pc,
                                      [](const Frame& frame, Pc wanted) { return frame.pc < wanted; });
  return found != frames_.end() && found->pc == pc ? &*found : nullptr;
}

TypeTag tag_of_descriptor(char letter) {
  switch (letter) {
    case 'Z':
    case 'B':
    case 'C':
    case 'S':
    case 'I': return TypeTag::kInteger;
    case 'J': return TypeTag::kLong;
    case 'F': return TypeTag::kFloat;
    case 'D': return TypeTag::kDouble;
    case 'L':
    case '[': return TypeTag::kObject;
    default: return TypeTag::kTop;
  }
}

VerificationType type_of_descriptor(std::string_view descriptor, PoolBuilder& pool) {
  VerificationType type{.tag = tag_of_descriptor(descriptor.empty() ? 'V' : descriptor[0])};
  if (type.tag != TypeTag::kObject) return type;
  const bool is_array = descriptor[0] == '[';
  type.data = pool.class_info(is_array ? descriptor : descriptor.substr(1, descriptor.size() - 2)).value();
  return type;
}

void append_entry_locals(const Code& code, PoolBuilder& pool, std::vector<VerificationType>& locals) {
  const Member& method = code.method();
  const ClassFile& cls = code.owner();
  if (!method.has(kAccStatic)) {
    const bool constructor = method.name == "<init>" && cls.name() != "java/lang/Object";
    locals.push_back(constructor ? VerificationType{.tag = TypeTag::kUninitializedThis}
                                 : VerificationType{.tag = TypeTag::kObject, .data = cls.this_class().value()});
  }
  const std::optional<MethodDescriptor> descriptor = MethodDescriptor::parse(method.descriptor);
  if (!descriptor) return;
  std::string_view rest = descriptor->parameters();
  while (!rest.empty()) {
    const std::string_view type = first_type(rest);
    locals.push_back(type_of_descriptor(type, pool));
    rest.remove_prefix(type.size());
  }
}

void FrameWriter::header(std::uint8_t short_type, std::uint8_t extended_type, std::uint32_t delta) {
  if (delta < 64 && short_type != extended_type) {
    out_.u1(static_cast<std::uint8_t>(short_type + delta));
  } else {
    out_.u1(extended_type);
    out_.u2(static_cast<std::uint16_t>(delta));
  }
}

void FrameWriter::type(VerificationType type) {
  out_.u1(static_cast<std::uint8_t>(type.tag));
  if (type.has_data()) out_.u2(type.data);
}

void FrameWriter::types(std::span<const VerificationType> types) {
  for (const VerificationType t : types) type(t);
}

void FrameWriter::add(std::uint32_t offset, std::span<const VerificationType> locals,
                      std::span<const VerificationType> stack) {
  const std::uint32_t delta = offset - previous_offset_ - (count_ == 0 ? 0 : 1);
  const std::size_t common = std::min(locals.size(), previous_.size());
  const bool prefix =
      std::equal(locals.begin(), locals.begin() + static_cast<std::ptrdiff_t>(common), previous_.begin());
  const auto grown = static_cast<std::ptrdiff_t>(locals.size()) - static_cast<std::ptrdiff_t>(previous_.size());
  if (prefix && grown == 0 && stack.empty()) {
    header(0, FrameType::kSameExtended, delta);
  } else if (prefix && grown == 0 && stack.size() == 1) {
    header(FrameType::kSameLocals1, FrameType::kSameLocals1Extended, delta);
    type(stack[0]);
  } else if (prefix && grown != 0 && grown >= -3 && grown <= 3 && stack.empty()) {
    const auto type = static_cast<std::uint8_t>(FrameType::kSameExtended + grown);
    header(type, type, delta);
    if (grown > 0) types(locals.last(static_cast<std::size_t>(grown)));
  } else {
    header(FrameType::kFull, FrameType::kFull, delta);
    out_.u2(static_cast<std::uint16_t>(locals.size()));
    types(locals);
    out_.u2(static_cast<std::uint16_t>(stack.size()));
    types(stack);
  }
  previous_.assign(locals.begin(), locals.end());
  previous_offset_ = offset;
  ++count_;
}

}  // namespace sonde::classfile
