// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_printer.h"

#include <algorithm>

#include "classfile/attribute_printer.h"
#include "classfile/descriptor.h"
#include "classfile/raw_frame.h"

namespace sonde::classfile {
namespace {

constexpr std::size_t kPcWidth = 5;
constexpr std::size_t kOperandColumn = 18;  // from the start of the mnemonic
constexpr std::size_t kCommentColumn = 36;

std::string_view array_type_name(std::uint8_t type) {
  static constexpr std::string_view kNames[] = {"boolean", "char", "float", "double", "byte", "short", "int", "long"};
  return type >= 4 && type <= 11 ? kNames[type - 4] : "?";
}

class CodePrinter {
 public:
  CodePrinter(Listing& out, const Code& code, std::size_t indent)
      : out_(out), code_(code), pool_(code.owner().pool()), indent_(indent) {}

  void sizes();
  void instruction(Instruction insn);
  void exception_table();
  void table(const Attribute& attribute);

 private:
  void operands(Instruction insn);
  void pool_operand(Instruction insn, std::string_view more);
  void cases(Instruction insn);
  void line_numbers(const Attribute& attribute);
  void local_variables(const Attribute& attribute);
  void stack_map(const Attribute& attribute);
  void types(std::string_view label, const std::vector<RawType>& list);
  void type(RawType type);

  Listing& out_;
  const Code& code_;
  const ConstantPool& pool_;
  const std::size_t indent_;
};

void CodePrinter::sizes() {
  const Member& method = code_.method();
  const auto descriptor = MethodDescriptor::parse(method.descriptor);
  out_ << Indent{indent_} << "Code: stack=" << code_.max_stack() << ", locals=" << code_.max_locals();
  if (descriptor) out_ << ", args_size=" << descriptor->parameter_slots() + (method.has(kAccStatic) ? 0 : 1);
  out_ << ", length=" << code_.length() << "\n";
}

void CodePrinter::instruction(Instruction insn) {
  out_ << Indent{indent_} << Right{insn.pc().value(), kPcWidth} << ": " << info_of(insn.opcode()).mnemonic
       << (insn.is_wide() ? "_w" : "");
  operands(insn);
  out_ << "\n";
}

void CodePrinter::pool_operand(Instruction insn, std::string_view more) {
  out_ << Index{insn.pool_index()} << more << Column{indent_ + kPcWidth + 2 + kCommentColumn} << "// ";
  out_.constant(pool_, insn.pool_index());
}

void CodePrinter::operands(Instruction insn) {
  const OperandFormat format = info_of(insn.opcode()).format;
  if (format == OperandFormat::none) return;
  out_ << Column{indent_ + kPcWidth + 2 + kOperandColumn};
  switch (format) {
    case OperandFormat::s1:
    case OperandFormat::s2: out_ << insn.immediate(); break;
    case OperandFormat::pool1:
    case OperandFormat::pool2: pool_operand(insn, ""); break;
    case OperandFormat::local: out_ << insn.local().value(); break;
    case OperandFormat::iinc: out_ << insn.local().value() << ", " << insn.increment(); break;
    case OperandFormat::branch2:
    case OperandFormat::branch4: out_ << insn.branch_target().value(); break;
    case OperandFormat::tableswitch:
    case OperandFormat::lookupswitch: cases(insn); break;
    case OperandFormat::invokeinterface: pool_operand(insn, ", " + std::to_string(insn.operand_u1(3))); break;
    case OperandFormat::invokedynamic: pool_operand(insn, ""); break;
    case OperandFormat::newarray: out_ << array_type_name(insn.operand_u1(1)); break;
    case OperandFormat::multianewarray: pool_operand(insn, ", " + std::to_string(insn.operand_u1(3))); break;
    case OperandFormat::none:
    case OperandFormat::wide: break;
  }
}

void CodePrinter::cases(Instruction insn) {
  const Switch cases = insn.as_switch();
  constexpr std::size_t kKeyWidth = 12;
  const Indent margin{indent_ + kPcWidth + 2};
  out_ << "{ // ";
  if (cases.is_table()) {
    out_ << cases.low() << " to " << static_cast<std::int64_t>(cases.low()) + cases.size() - 1 << "\n";
  } else {
    out_ << cases.size() << "\n";
  }
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    out_ << margin << Right{cases.key(i), kKeyWidth} << ": " << cases.target(i).value() << "\n";
  }
  out_ << margin << Indent{kKeyWidth - 7} << "default: " << cases.default_target().value() << "\n" << margin << "}";
}

void CodePrinter::exception_table() {
  if (code_.exceptions().empty()) return;
  out_ << Indent{indent_} << "Exception table:\n" << Indent{indent_} << "   from    to  target  type\n";
  for (const ExceptionEntry& entry : code_.exceptions()) {
    out_ << Indent{indent_} << Right{entry.start.value(), 7} << Right{entry.end.value(), 6}
         << Right{entry.handler.value(), 8} << "  ";
    if (entry.catch_type.value() == 0) {
      out_ << "any\n";
      continue;
    }
    out_.constant(pool_, entry.catch_type);
    out_ << "\n";
  }
}

void CodePrinter::table(const Attribute& attribute) {
  if (attribute.name == attribute::kStackMapTable) {
    stack_map(attribute);
  } else if (attribute.name == attribute::kLineNumberTable) {
    line_numbers(attribute);
  } else if (attribute.name == attribute::kLocalVariableTable || attribute.name == attribute::kLocalVariableTypeTable) {
    local_variables(attribute);
  } else {
    print_attribute(out_, pool_, attribute, AttributeOwner::kCode, indent_);
    out_ << "\n";
  }
}

void CodePrinter::line_numbers(const Attribute& attribute) {
  out_ << Indent{indent_} << attribute.name << ":\n";
  ByteReader reader(attribute.content);
  for (std::uint16_t left = reader.u2(); left > 0; --left) {
    const std::uint16_t pc = reader.u2();
    const std::uint16_t line = reader.u2();
    if (reader.overran()) break;
    out_ << Indent{indent_ + 2} << "line " << line << ": " << pc << "\n";
  }
  if (auto whole = reader.check(attribute.name); !whole.ok()) {
    out_ << Indent{indent_ + 2};
    print_malformed(out_, whole.error());
    out_ << "\n";
  }
}

void CodePrinter::local_variables(const Attribute& attribute) {
  const bool has_signatures = attribute.name == attribute::kLocalVariableTypeTable;
  out_ << Indent{indent_} << attribute.name << ":\n"
       << Indent{indent_} << "  start  length  slot  name" << Column{indent_ + 41}
       << (has_signatures ? "signature" : "descriptor") << "\n";
  ByteReader reader(attribute.content);
  for (std::uint16_t left = reader.u2(); left > 0; --left) {
    const std::uint16_t start = reader.u2();
    const std::uint16_t length = reader.u2();
    const PoolIndex name(reader.u2());
    const PoolIndex type(reader.u2());
    const std::uint16_t slot = reader.u2();
    if (reader.overran()) break;
    out_ << Indent{indent_} << Right{start, 7} << Right{length, 8} << Right{slot, 6} << "  ";
    out_.constant_value(pool_, name);
    out_ << Column{indent_ + 41};
    out_.constant_value(pool_, type);
    out_ << "\n";
  }
  if (auto whole = reader.check(attribute.name); !whole.ok()) {
    out_ << Indent{indent_ + 2};
    print_malformed(out_, whole.error());
    out_ << "\n";
  }
}

void CodePrinter::stack_map(const Attribute& attribute) {
  RawFrameReader reader(attribute.content);
  out_ << Indent{indent_} << attribute.name << ": " << reader.count()
       << (reader.count() == 1 ? " frame\n" : " frames\n");
  RawFrame frame;
  while (true) {
    const Result<bool> more = reader.next(frame);
    if (!more.ok()) {
      out_ << Indent{indent_ + 2};
      print_malformed(out_, more.error());
      out_ << "\n";
      return;
    }
    if (!*more) return;
    out_ << Indent{indent_} << Right{frame.pc, kPcWidth} << ": " << name_of_frame_type(frame.frame_type) << " ("
         << frame.frame_type << ")\n";
    if (frame.is_full() || frame.is_append()) types("locals", frame.locals);
    if (frame.is_full() || !frame.stack.empty()) types("stack", frame.stack);
  }
}

void CodePrinter::types(std::string_view label, const std::vector<RawType>& list) {
  out_ << Indent{indent_ + kPcWidth + 2} << label << " = [";
  for (std::size_t i = 0; i < list.size(); ++i) {
    out_ << (i == 0 ? " " : ", ");
    type(list[i]);
  }
  out_ << " ]\n";
}

void CodePrinter::type(RawType type) {
  static constexpr std::string_view kNames[] = {"top", "int", "float", "double", "long", "null", "this(uninit)"};
  if (type.tag < RawType::kObject) {
    out_ << kNames[type.tag];
  } else if (type.tag == RawType::kUninitialized) {
    out_ << "uninitialized " << type.operand;
  } else {
    out_.constant(pool_, PoolIndex(type.operand));
  }
}

}  // namespace

void print_code(Listing& out, const Code& code, std::size_t indent, bool tables) {
  CodePrinter(out, code, indent).sizes();
  CodePrinter printer(out, code, indent + 2);
  for (const Instruction insn : code.instructions()) printer.instruction(insn);
  printer.exception_table();
  if (!tables) return;
  for (const Attribute& attribute : code.attributes()) printer.table(attribute);
}

}  // namespace sonde::classfile
