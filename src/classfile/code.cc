// SPDX-License-Identifier: Apache-2.0
#include "classfile/code.h"

#include <string>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

std::string pc_text(std::uint32_t pc) { return "pc " + std::to_string(pc); }

bool is_loadable(Tag tag, bool two_slots) {
  switch (tag) {
    case Tag::kLong:
    case Tag::kDouble: return two_slots;
    case Tag::kInteger:
    case Tag::kFloat:
    case Tag::kString:
    case Tag::kClass:
    case Tag::kMethodHandle:
    case Tag::kMethodType: return !two_slots;
    case Tag::kDynamic: return true;
    default: return false;
  }
}

// Whether an instruction's constant pool operand is of a kind JVMS 6.5 allows there.
bool pool_operand_fits(Opcode opcode, Tag tag) {
  switch (opcode) {
    case Opcode::ldc:
    case Opcode::ldc_w: return is_loadable(tag, false);
    case Opcode::ldc2_w: return is_loadable(tag, true);
    case Opcode::getstatic:
    case Opcode::putstatic:
    case Opcode::getfield:
    case Opcode::putfield: return tag == Tag::kFieldref;
    case Opcode::invokevirtual: return tag == Tag::kMethodref;
    case Opcode::invokespecial:
    case Opcode::invokestatic: return tag == Tag::kMethodref || tag == Tag::kInterfaceMethodref;
    case Opcode::invokeinterface: return tag == Tag::kInterfaceMethodref;
    case Opcode::invokedynamic: return tag == Tag::kInvokeDynamic;
    default: return tag == Tag::kClass;  // new, anewarray, checkcast, instanceof, multianewarray
  }
}

bool may_be_wide(Opcode opcode) {
  return (opcode >= Opcode::iload && opcode <= Opcode::aload) || (opcode >= Opcode::istore && opcode <= Opcode::astore) ||
         opcode == Opcode::ret || opcode == Opcode::iinc;
}

bool has_pool_operand(OperandFormat format) {
  return format == OperandFormat::pool2 || format == OperandFormat::pool1 || format == OperandFormat::invokeinterface ||
         format == OperandFormat::invokedynamic || format == OperandFormat::multianewarray;
}

}  // namespace

Error Code::bad_instruction(std::uint32_t pc, std::string message) const {
  constexpr std::uint32_t kCodeStart = 8;  // max_stack, max_locals, code_length
  return {ErrorCode::kMalformed, std::move(message),
          {.path = pc_text(pc), .byte_offset = attribute_.offset + kCodeStart + pc}};
}

Result<Code> Code::parse(const ClassFile& cls, const Member& method) {
  Code code;
  TRY(parse_into(cls, method, code));
  return code;
}

Result<void> Code::parse_into(const ClassFile& cls, const Member& method, Code& code) {
  code.cls_ = &cls;
  code.method_ = &method;
  code.starts_.clear();
  code.jumps_.clear();
  code.exceptions_.clear();
  const std::optional<Attribute> attribute = method.attributes.find(attribute::kCode);
  if (!attribute) {
    return Error{ErrorCode::kInvalidArgument, "has no Code attribute", {.path = "method `" + qualified_name(cls, method) + "`"}};
  }
  code.attribute_ = *attribute;
  auto result = code.parse_structure();
  if (result.ok()) result = code.scan_instructions();
  if (result.ok()) result = code.check_targets();
  if (!result.ok()) {
    return std::move(result).error().within("Code").within("method `" + qualified_name(cls, method) + "`");
  }
  return {};
}

Result<void> Code::parse_structure() {
  ByteReader reader(attribute_.content);
  // Before 45.3 the first three items of Code were one, one and two bytes long. No compiler wrote that in the last
  // thirty years, so it is named rather than parsed wrongly.
  if (cls_->major_version() == kOldestMajor && cls_->minor_version() < 3) {
    return Error{ErrorCode::kUnsupported, "class version 45." + std::to_string(cls_->minor_version()) +
                 " has the Code layout of pre-release Java", {.path = {}, .byte_offset = attribute_.offset}};
  }
  max_stack_ = reader.u2();
  max_locals_ = reader.u2();
  const std::uint32_t length = reader.u4();
  bytes_ = reader.bytes(length);
  auto whole = reader.check("the code array");
  if (!whole.ok()) return std::move(whole).error().shifted(attribute_.offset);
  if (length == 0 || length > kMaxCodeLength) {
    return Error{ErrorCode::kMalformed, "code_length " + std::to_string(length) + " is not in 1..65535",
                 {.path = {}, .byte_offset = attribute_.offset + 4}};
  }
  TRY(parse_exceptions(reader));
  attributes_ = TRY(AttributeList::parse(cls_->pool(), attribute_.content, attribute_.offset, reader));
  if (!reader.at_end()) {
    return Error{ErrorCode::kMalformed, std::to_string(reader.remaining()) + " bytes follow the last attribute",
                 {.path = {}, .byte_offset = attribute_.offset + reader.position()}};
  }
  return {};
}

Result<void> Code::parse_exceptions(ByteReader& reader) {
  const std::uint16_t count = reader.u2();
  for (std::uint16_t i = 0; i < count && !reader.overran(); ++i) {
    const Pc start(reader.u2());
    const Pc end(reader.u2());
    const Pc handler(reader.u2());
    exceptions_.push_back({.start = start, .end = end, .handler = handler, .catch_type = PoolIndex(reader.u2())});
  }
  auto whole = reader.check("the exception table");
  if (!whole.ok()) return std::move(whole).error().shifted(attribute_.offset);
  return {};
}

Result<void> Code::scan_instructions() {
  starts_.assign(bytes_.size(), 0);
  const std::uint8_t* code = bytes_.data();
  const auto end = static_cast<std::uint32_t>(bytes_.size());
  std::uint32_t pc = 0;
  while (pc < end) {
    const std::uint8_t byte = code[pc];
    if (!is_opcode(byte)) return bad_instruction(pc, "unknown opcode " + std::to_string(byte));
    const OpcodeInfo& info = kOpcodes[byte];
    std::uint32_t length = info.length;
    if (length == 0) {
      TRY(scan_variable(pc, length));
    } else if (length > end - pc) {
      return bad_instruction(pc, std::string(info.mnemonic) + " is cut off by the end of the code");
    }
    starts_[pc] = 1;
    if (info.flow != Flow::next && info.flow != Flow::end) {
      jumps_.push_back(Pc(pc));
    } else if (info.format != OperandFormat::none) {
      TRY(check_operands(Instruction(code, pc)));
    }
    pc += length;
  }
  return {};
}

// Switches and wide: the length is in the operands, which may lie.
Result<void> Code::scan_variable(std::uint32_t pc, std::uint32_t& length) {
  const auto left = static_cast<std::uint32_t>(bytes_.size()) - pc;
  const Instruction insn(bytes_.data(), pc);
  if (insn.is_wide()) {
    if (left < 2 || !is_opcode(bytes_[pc + 1]) || !may_be_wide(insn.opcode())) {
      return bad_instruction(pc, "wide does not modify a load, store, ret or iinc");
    }
    length = insn.length();
  } else {
    const std::uint32_t header = switch_operands(pc) - pc + 12;
    const bool is_table = insn.opcode() == Opcode::tableswitch;
    if (left < header - (is_table ? 0 : 4)) return bad_instruction(pc, "switch is cut off by the end of the code");
    const Switch cases = insn.as_switch();
    const std::uint64_t whole = cases.length();
    // A table with high < low has a size that wrapped around, so it fails the same test as one that is too long.
    if (whole > left) return bad_instruction(pc, "switch with " + std::to_string(cases.size()) + " cases is cut off by the end of the code");
    length = static_cast<std::uint32_t>(whole);
  }
  if (length > left) return bad_instruction(pc, "wide instruction is cut off by the end of the code");
  return {};
}

Result<void> Code::check_operands(Instruction insn) const {
  const std::uint32_t pc = insn.pc().value();
  const OpcodeInfo& info = info_of(insn.opcode());
  if (has_pool_operand(info.format)) {
    const PoolIndex index = insn.pool_index();
    if (!pool_operand_fits(insn.opcode(), cls_->pool().tag(index))) {
      return bad_instruction(pc, std::string(info.mnemonic) + " #" + std::to_string(index.value()) + " points at " +
                                     std::string(name_of(cls_->pool().tag(index))));
    }
    if (info.format == OperandFormat::multianewarray && insn.operand_u1(3) == 0) {
      return bad_instruction(pc, "multianewarray of no dimension");
    }
  } else if (info.format == OperandFormat::newarray && (insn.operand_u1(1) < 4 || insn.operand_u1(1) > 11)) {
    return bad_instruction(pc, "newarray of unknown type " + std::to_string(insn.operand_u1(1)));
  }
  return {};
}

Result<void> Code::check_targets() const {
  const auto check = [this](Pc from, Pc target) -> Result<void> {
    if (is_instruction(target)) [[likely]] return {};
    return bad_instruction(from.value(), "jumps to " + std::to_string(static_cast<std::int32_t>(target.value())) +
                                             ", which is not the start of an instruction");
  };
  for (const Pc pc : jumps_) {
    const Instruction insn = at(pc);
    if (insn.is_branch()) {
      TRY(check(pc, insn.branch_target()));
      continue;
    }
    const Switch cases = insn.as_switch();
    TRY(check(pc, cases.default_target()));
    for (std::uint32_t i = 0; i < cases.size(); ++i) TRY(check(pc, cases.target(i)));
  }
  for (std::size_t i = 0; i < exceptions_.size(); ++i) {
    const ExceptionEntry& entry = exceptions_[i];
    const bool end_fits = entry.end.value() == length() || is_instruction(entry.end);
    const bool type_fits = entry.catch_type.value() == 0 || cls_->pool().is(entry.catch_type, Tag::kClass);
    if (is_instruction(entry.start) && end_fits && entry.start < entry.end && is_instruction(entry.handler) && type_fits) continue;
    return Error{ErrorCode::kMalformed,
                 "range " + std::to_string(entry.start.value()) + ".." + std::to_string(entry.end.value()) + " handler " +
                     std::to_string(entry.handler.value()) + " type #" + std::to_string(entry.catch_type.value()) +
                     " does not fit the code",
                 {.path = "exception table entry " + std::to_string(i), .byte_offset = attribute_.offset + 8 + length() + 2 + i * 8}};
  }
  return {};
}

std::optional<std::uint16_t> Code::line_at(Pc pc) const {
  std::optional<std::uint16_t> line;
  std::uint32_t best = 0;
  for (const Attribute& attribute : attributes_) {
    if (attribute.name != attribute::kLineNumberTable) continue;
    ByteReader reader(attribute.content);
    for (std::uint16_t count = reader.u2(); count > 0 && !reader.overran(); --count) {
      const std::uint16_t start = reader.u2();
      const std::uint16_t number = reader.u2();
      if (reader.overran()) break;
      // Entries need not be sorted, and javac may give one line several entries.
      if (start <= pc.value() && (!line || start >= best)) {
        best = start;
        line = number;
      }
    }
  }
  return line;
}

}  // namespace sonde::classfile
