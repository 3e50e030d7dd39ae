// SPDX-License-Identifier: Apache-2.0
#include "classfile/code.h"

#include <array>
#include <string>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

std::string pc_text(std::size_t pc) { return "pc " + std::to_string(pc); }

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

constexpr bool is_jump(Opcode opcode) { return flow_of(opcode) != Flow::next && flow_of(opcode) != Flow::end; }

// What the scan asks of each opcode. It has no branch on the kind of an instruction: jumps are a number to add, and an
// instruction without a constant pool index has index 0, where any tag will do.
struct ScanRow {
  std::uint32_t allowed_tags = 0;  // 0: rare_operand_fits() decides
  std::uint8_t length = 0;         // as in kLengths
  std::uint8_t is_jump = 0;
  std::uint8_t index_shift = 0;  // of the two bytes after the opcode, to get the index; 16: there is none
};
constexpr std::array<ScanRow, 256> kScanRows = [] {
  std::array<ScanRow, 256> rows{};
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const bool is_rare = opcode == Opcode::newarray || opcode == Opcode::multianewarray;
    rows[i].allowed_tags = is_rare ? 0 : allowed_tags(opcode) != 0 ? allowed_tags(opcode) : ~0U;
    rows[i].length = kLengths[i];
    rows[i].is_jump = is_jump(opcode) ? 1 : 0;
    rows[i].index_shift = opcode == Opcode::ldc ? 8 : allowed_tags(opcode) != 0 ? 0 : 16;
  }
  return rows;
}();

CodeTable::Kind kind_of(std::string_view name) {
  using namespace attribute;
  const auto is = [name](std::string_view known) __attribute__((always_inline)) { return is_known(name, known); };
  if (is(kLineNumberTable)) return CodeTable::Kind::kLines;
  if (is(kStackMapTable)) return CodeTable::Kind::kFrames;
  if (is(kLocalVariableTable) || is(kLocalVariableTypeTable)) return CodeTable::Kind::kVariables;
  if (is(kRuntimeVisibleTypeAnnotations) || is(kRuntimeInvisibleTypeAnnotations))
    return CodeTable::Kind::kTypeAnnotations;
  return CodeTable::Kind::kOther;
}

bool may_be_wide(Opcode opcode) {
  return (opcode >= Opcode::iload && opcode <= Opcode::aload) ||
         (opcode >= Opcode::istore && opcode <= Opcode::astore) || opcode == Opcode::ret || opcode == Opcode::iinc;
}

}  // namespace

Error Code::bad_instruction(std::size_t pc, std::string message) const {
  constexpr std::uint32_t kCodeStart = 8;  // max_stack, max_locals, code_length
  return {ErrorCode::kMalformed, std::move(message), {.path = pc_text(pc), .byte_offset = offset_ + kCodeStart + pc}};
}

Result<Code> Code::parse(const ClassFile& cls, const Member& method) {
  Code code;
  TRY(parse_into(cls, method, code));
  return code;
}

Result<void> Code::parse_into(const ClassFile& cls, const Member& method, Code& code) {
  code.cls_ = &cls;
  code.method_ = &method;
  if (method.code_position == 0) {
    return Error{
        ErrorCode::kInvalidArgument, "has no Code attribute", {.path = "method `" + qualified_name(cls, method) + "`"}};
  }
  const std::uint8_t* const attribute = method.attributes.bytes().data() + method.code_position;
  code.content_ = {attribute + Attribute::kHeader, load_u4(attribute + 2)};
  code.offset_ = static_cast<std::uint32_t>(code.content_.data() - cls.bytes().data());
  auto result = code.parse_structure();
  if (result.ok()) result = code.scan_instructions();
  if (result.ok()) result = code.check_targets();
  if (!result.ok()) {
    return std::move(result).error().within("Code").within("method `" + qualified_name(cls, method) + "`");
  }
  return {};
}

Result<void> Code::parse_structure() {
  // Before 45.3 the first three items of Code were one, one and two bytes long. No compiler wrote that in the last
  // thirty years, so it is named rather than parsed wrongly.
  if (cls_->major_version() == kOldestMajor && cls_->minor_version() < 3) [[unlikely]] {
    return Error{
        ErrorCode::kUnsupported,
        "class version 45." + std::to_string(cls_->minor_version()) + " has the Code layout of pre-release Java",
        {.path = {}, .byte_offset = offset_}};
  }
  ByteReader reader(content_);
  const std::uint8_t* const header = reader.take(8);
  const std::uint32_t length = header != nullptr ? load_u4(header + 4) : 0;
  bytes_ = reader.bytes(length);
  if (reader.overran()) [[unlikely]]
    return reader.check("the code array").error().shifted(offset_);
  max_stack_ = load_u2(header);
  max_locals_ = load_u2(header + 2);
  if (length == 0 || length > kMaxCodeLength) [[unlikely]] {
    return Error{ErrorCode::kMalformed,
                 "code_length " + std::to_string(length) + " is not in 1..65535",
                 {.path = {}, .byte_offset = offset_ + 4}};
  }
  const std::size_t rows = reader.u2();
  const std::uint8_t* row = reader.take(rows * 8);
  if (reader.overran()) [[unlikely]]
    return reader.check("the exception table").error().shifted(offset_);
  exceptions_.clear();
  for (std::size_t i = 0; i < rows; ++i, row += 8) {
    exceptions_.push_back({.start = Pc(load_u2(row)),
                           .end = Pc(load_u2(row + 2)),
                           .handler = Pc(load_u2(row + 4)),
                           .catch_type = PoolIndex(load_u2(row + 6))});
  }
  tables_.clear();
  stack_map_table_ = 0;
  TRY(attributes_.parse(cls_->pool(), content_, offset_, reader,
                        [this](std::string_view name, const std::uint8_t* begin, std::uint32_t length) {
                          const CodeTable::Kind kind = kind_of(name);
                          tables_.push_back({.begin = begin, .length = length, .kind = kind});
                          if (kind == CodeTable::Kind::kFrames && stack_map_table_ == 0)
                            stack_map_table_ = tables_.size();
                        }));
  if (!reader.at_end()) [[unlikely]] {
    return Error{ErrorCode::kMalformed,
                 std::to_string(reader.remaining()) + " bytes follow the last attribute",
                 {.path = {}, .byte_offset = offset_ + reader.position()}};
  }
  return {};
}

Result<void> Code::scan_instructions() {
  const std::uint8_t* const code = bytes_.data();
  const std::size_t end = bytes_.size();
  const std::span<const Tag> tags = cls_->pool().tags();
  has_switches_ = false;
  is_start_.assign(end, 0);
  // Room for one entry per byte and one that is written but not kept. Through plain pointers: a store to bytes might
  // alias the vectors themselves for all the compiler knows.
  if (starts_.size() <= end) {
    starts_.resize(end + 1);
    jumps_.resize(end + 1);
  }
  std::uint8_t* const is_start = is_start_.data();
  std::uint16_t* start = starts_.data();
  Pc* jump = jumps_.data();
  std::size_t pc = 0;
  while (pc < end) {
    const ScanRow& row = kScanRows[code[pc]];
    std::size_t length = row.length;
    if (length == 0) [[unlikely]] {
      if (!is_opcode(code[pc])) return bad_instruction(pc, "unknown opcode " + std::to_string(code[pc]));
      length = TRY(variable_length(static_cast<std::uint32_t>(pc)));
      has_switches_ = has_switches_ || row.is_jump != 0;
    }
    is_start[pc] = 1;
    *start++ = static_cast<std::uint16_t>(pc);
    *jump = Pc(static_cast<std::uint32_t>(pc));
    jump += row.is_jump;
    // Two bytes can be read behind any instruction: the exception table follows the code.
    const std::size_t index = std::size_t{load_u2(code + pc + 1)} >> row.index_shift;
    const Tag tag = tags[index < tags.size() ? index : 0];  // 0 is never usable
    if ((row.allowed_tags & bit(tag)) == 0 && !rare_operand_fits(pc)) [[unlikely]]
      return bad_operand(static_cast<std::uint32_t>(pc));
    pc += length;
  }
  if (pc > end) {
    const std::uint16_t last = start[-1];
    return bad_instruction(last, std::string(kOpcodes[code[last]].mnemonic) + " is cut off by the end of the code");
  }
  *start++ = static_cast<std::uint16_t>(end);
  starts_count_ = static_cast<std::size_t>(start - starts_.data());
  jumps_count_ = static_cast<std::size_t>(jump - jumps_.data());
  return {};
}

// Instructions whose operand is something else than an index, or more.
bool Code::rare_operand_fits(std::size_t pc) const {
  const std::size_t left = bytes_.size() - pc;
  const Instruction insn = at(Pc(static_cast<std::uint32_t>(pc)));
  if (insn.opcode() == Opcode::newarray) return left >= 2 && insn.operand_u1(1) >= 4 && insn.operand_u1(1) <= 11;
  return insn.opcode() == Opcode::multianewarray && left >= 4 && cls_->pool().is(insn.pool_index(), Tag::kClass) &&
         insn.operand_u1(3) != 0;
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

Error Code::bad_target(Pc from, Pc target) const {
  return bad_instruction(from.value(), "jumps to " + std::to_string(static_cast<std::int32_t>(target.value())) +
                                           ", which is not the start of an instruction");
}

Result<void> Code::check_targets() const {
  for (const Pc pc : jumps()) {
    const Instruction insn = at(pc);
    if (!insn.is_switch()) [[likely]] {
      if (!is_instruction(insn.branch_target())) [[unlikely]]
        return bad_target(pc, insn.branch_target());
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
    return Error{
        ErrorCode::kMalformed,
        "range " + std::to_string(entry.start.value()) + ".." + std::to_string(entry.end.value()) + " handler " +
            std::to_string(entry.handler.value()) + " type #" + std::to_string(entry.catch_type.value()) +
            " does not fit the code",
        {.path = "exception table entry " + std::to_string(i), .byte_offset = offset_ + 8 + length() + 2 + i * 8}};
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
