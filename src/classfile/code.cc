// SPDX-License-Identifier: Apache-2.0
#include "classfile/code.h"

#include <array>
#include <string>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

std::string pc_text(std::uint32_t pc) { return "pc " + std::to_string(pc); }

constexpr std::uint32_t bit(Tag tag) { return 1U << static_cast<unsigned>(tag); }

constexpr std::uint32_t kLoadable = bit(Tag::kInteger) | bit(Tag::kFloat) | bit(Tag::kString) | bit(Tag::kClass) |
                                    bit(Tag::kMethodHandle) | bit(Tag::kMethodType) | bit(Tag::kDynamic);

// The kinds of constant pool entry that JVMS 6.5 allows as an instruction's operand, as bits; 0: it has none.
constexpr std::uint32_t allowed_tags(Opcode opcode) {
  switch (opcode) {
    case Opcode::ldc:
    case Opcode::ldc_w: return kLoadable;
    case Opcode::ldc2_w: return bit(Tag::kLong) | bit(Tag::kDouble) | bit(Tag::kDynamic);
    case Opcode::getstatic:
    case Opcode::putstatic:
    case Opcode::getfield:
    case Opcode::putfield: return bit(Tag::kFieldref);
    case Opcode::invokevirtual: return bit(Tag::kMethodref);
    case Opcode::invokespecial:
    case Opcode::invokestatic: return bit(Tag::kMethodref) | bit(Tag::kInterfaceMethodref);
    case Opcode::invokeinterface: return bit(Tag::kInterfaceMethodref);
    case Opcode::invokedynamic: return bit(Tag::kInvokeDynamic);
    case Opcode::new_:
    case Opcode::anewarray:
    case Opcode::checkcast:
    case Opcode:: instanceof:
    case Opcode::multianewarray: return bit(Tag::kClass);
    default: return 0;
  }
}

constexpr std::array<std::uint32_t, 256> kAllowedTags = [] {
  std::array<std::uint32_t, 256> tags{};
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) tags[i] = allowed_tags(static_cast<Opcode>(i));
  return tags;
}();

// What the scan asks of each opcode, as numbers to add: it has no branch on the kind of an instruction.
struct ScanFlags {
  std::uint8_t has_operand_to_check = 0;
  std::uint8_t is_jump = 0;
};
constexpr std::array<ScanFlags, 256> kScanFlags = [] {
  std::array<ScanFlags, 256> flags{};
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) {
    const Flow flow = kOpcodes[i].flow;
    flags[i].is_jump = flow != Flow::next && flow != Flow::end ? 1 : 0;
    flags[i].has_operand_to_check = kAllowedTags[i] != 0 || kOpcodes[i].format == OperandFormat::newarray ? 1 : 0;
  }
  return flags;
}();

bool may_be_wide(Opcode opcode) {
  return (opcode >= Opcode::iload && opcode <= Opcode::aload) ||
         (opcode >= Opcode::istore && opcode <= Opcode::astore) || opcode == Opcode::ret || opcode == Opcode::iinc;
}

}  // namespace

Error Code::bad_instruction(std::uint32_t pc, std::string message) const {
  constexpr std::uint32_t kCodeStart = 8;  // max_stack, max_locals, code_length
  return {ErrorCode::kMalformed,
          std::move(message),
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
  code.exceptions_.clear();
  const std::optional<Attribute> attribute = method.attributes.find(attribute::kCode);
  if (!attribute) {
    return Error{
        ErrorCode::kInvalidArgument, "has no Code attribute", {.path = "method `" + qualified_name(cls, method) + "`"}};
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
    return Error{
        ErrorCode::kUnsupported,
        "class version 45." + std::to_string(cls_->minor_version()) + " has the Code layout of pre-release Java",
        {.path = {}, .byte_offset = attribute_.offset}};
  }
  max_stack_ = reader.u2();
  max_locals_ = reader.u2();
  const std::uint32_t length = reader.u4();
  bytes_ = reader.bytes(length);
  auto whole = reader.check("the code array");
  if (!whole.ok()) return std::move(whole).error().shifted(attribute_.offset);
  if (length == 0 || length > kMaxCodeLength) {
    return Error{ErrorCode::kMalformed,
                 "code_length " + std::to_string(length) + " is not in 1..65535",
                 {.path = {}, .byte_offset = attribute_.offset + 4}};
  }
  TRY(parse_exceptions(reader));
  attributes_ = TRY(AttributeList::parse(cls_->pool(), attribute_.content, attribute_.offset, reader));
  stack_map_table_ = attributes_.find(attribute::kStackMapTable);
  if (!reader.at_end()) {
    return Error{ErrorCode::kMalformed,
                 std::to_string(reader.remaining()) + " bytes follow the last attribute",
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
  const std::uint8_t* code = bytes_.data();
  const auto end = static_cast<std::uint32_t>(bytes_.size());
  is_start_.assign(end, 0);
  // Room for one entry per byte and one that is written but not kept. Through plain pointers: a store to bytes might
  // alias the vectors themselves for all the compiler knows.
  if (starts_.size() <= end) starts_.resize(end + 1);
  if (pool_users_.size() <= end) pool_users_.resize(end + 1);
  if (jumps_.size() <= end) jumps_.resize(end + 1);
  std::uint8_t* const is_start = is_start_.data();
  std::uint16_t* start = starts_.data();
  std::uint16_t* pool_user = pool_users_.data();
  Pc* jump = jumps_.data();
  std::uint32_t pc = 0;
  while (pc < end) {
    const std::uint8_t opcode = code[pc];
    std::uint32_t length = kLengths[opcode];
    if (length == 0) [[unlikely]] {
      if (!is_opcode(opcode)) return bad_instruction(pc, "unknown opcode " + std::to_string(opcode));
      length = TRY(variable_length(pc));
    }
    is_start[pc] = 1;
    *start++ = static_cast<std::uint16_t>(pc);
    *pool_user = static_cast<std::uint16_t>(pc);
    pool_user += kScanFlags[opcode].has_operand_to_check;
    *jump = Pc(pc);
    jump += kScanFlags[opcode].is_jump;
    pc += length;
  }
  if (pc > end) {
    const std::uint16_t last = start[-1];
    return bad_instruction(last, std::string(kOpcodes[code[last]].mnemonic) + " is cut off by the end of the code");
  }
  *start++ = static_cast<std::uint16_t>(end);
  starts_count_ = static_cast<std::size_t>(start - starts_.data());
  pool_users_count_ = static_cast<std::size_t>(pool_user - pool_users_.data());
  jumps_count_ = static_cast<std::size_t>(jump - jumps_.data());
  return check_operands();
}

Result<void> Code::check_operands() const {
  const std::uint8_t* code = bytes_.data();
  const ConstantPool& pool = cls_->pool();
  for (const std::uint16_t pc : std::span(pool_users_).first(pool_users_count_)) {
    const Instruction insn(code, pc);
    bool fits = false;
    if (insn.opcode() == Opcode::newarray) {
      fits = code[pc + 1] >= 4 && code[pc + 1] <= 11;
    } else {
      fits = ((kAllowedTags[code[pc]] >> static_cast<unsigned>(pool.tag(insn.pool_index()))) & 1U) != 0;
      if (insn.opcode() == Opcode::multianewarray) fits = fits && code[pc + 3] != 0;
    }
    if (!fits) [[unlikely]]
      return bad_operand(pc);
  }
  return {};
}

// Switches and wide: the length is in the operands, which may lie.
Result<std::uint32_t> Code::variable_length(std::uint32_t pc) const {
  const auto left = static_cast<std::uint32_t>(bytes_.size()) - pc;
  const Instruction insn(bytes_.data(), pc);
  if (insn.is_wide()) {
    if (left < 2 || !is_opcode(bytes_[pc + 1]) || !may_be_wide(insn.opcode())) {
      return bad_instruction(pc, "wide does not modify a load, store, ret or iinc");
    }
    return insn.length();
  }
  const std::uint32_t header = switch_operands(pc) - pc + 12;
  const bool is_table = insn.opcode() == Opcode::tableswitch;
  if (left < header - (is_table ? 0 : 4)) return bad_instruction(pc, "switch is cut off by the end of the code");
  const Switch cases = insn.as_switch();
  // A table with high < low has a size that wrapped around, so it fails the same test as one that is too long.
  if (cases.length() > left) {
    return bad_instruction(pc,
                           "switch with " + std::to_string(cases.size()) + " cases is cut off by the end of the code");
  }
  return static_cast<std::uint32_t>(cases.length());
}

Error Code::bad_operand(std::uint32_t pc) const {
  const Instruction insn = at(Pc(pc));
  const std::string mnemonic(info_of(insn.opcode()).mnemonic);
  if (insn.opcode() == Opcode::newarray) {
    return bad_instruction(pc, "newarray of unknown type " + std::to_string(insn.operand_u1(1)));
  }
  const Tag tag = cls_->pool().tag(insn.pool_index());
  if (insn.opcode() == Opcode::multianewarray && tag == Tag::kClass)
    return bad_instruction(pc, "multianewarray of no dimension");
  return bad_instruction(
      pc, mnemonic + " #" + std::to_string(insn.pool_index().value()) + " points at " + std::string(name_of(tag)));
}

Result<void> Code::check_targets() const {
  const auto bad_target = [this](Pc from, Pc target) {
    return bad_instruction(from.value(), "jumps to " + std::to_string(static_cast<std::int32_t>(target.value())) +
                                             ", which is not the start of an instruction");
  };
  for (const Pc pc : jumps()) {
    const Instruction insn = at(pc);
    if (insn.is_branch()) {
      if (!is_instruction(insn.branch_target())) return bad_target(pc, insn.branch_target());
      continue;
    }
    const Switch cases = insn.as_switch();
    if (!is_instruction(cases.default_target())) return bad_target(pc, cases.default_target());
    for (std::uint32_t i = 0; i < cases.size(); ++i) {
      if (!is_instruction(cases.target(i))) return bad_target(pc, cases.target(i));
    }
  }
  for (std::size_t i = 0; i < exceptions_.size(); ++i) {
    const ExceptionEntry& entry = exceptions_[i];
    const bool end_fits = entry.end.value() == length() || is_instruction(entry.end);
    const bool type_fits = entry.catch_type.value() == 0 || cls_->pool().is(entry.catch_type, Tag::kClass);
    if (is_instruction(entry.start) && end_fits && entry.start < entry.end && is_instruction(entry.handler) &&
        type_fits)
      continue;
    return Error{ErrorCode::kMalformed,
                 "range " + std::to_string(entry.start.value()) + ".." + std::to_string(entry.end.value()) +
                     " handler " + std::to_string(entry.handler.value()) + " type #" +
                     std::to_string(entry.catch_type.value()) + " does not fit the code",
                 {.path = "exception table entry " + std::to_string(i),
                  .byte_offset = attribute_.offset + 8 + length() + 2 + i * 8}};
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
