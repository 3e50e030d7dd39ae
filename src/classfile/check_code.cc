// SPDX-License-Identifier: Apache-2.0
#include "classfile/check_code.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "classfile/check_attributes.h"
#include "classfile/descriptor.h"
#include "classfile/raw_frame.h"

namespace sonde::classfile {
namespace {

constexpr std::uint16_t kNoSubroutinesMajor = 51;  // from here on jsr and ret are illegal (JVMS 4.9.1)

// Slots that a load, store, ret or iinc uses; 0 for instructions without a local variable.
std::uint32_t local_slots(Opcode opcode) {
  // Both ranges have the types in the order i l f d a: first with an operand, then four numbered forms of each.
  const auto is_wide_type = [](Opcode first, Opcode numbered, Opcode op) {
    const int from_first = static_cast<int>(op) - static_cast<int>(first);
    const int from_numbered = static_cast<int>(op) - static_cast<int>(numbered);
    const int type = from_numbered >= 0 ? from_numbered / 4 : from_first;
    return type == 1 || type == 3;
  };
  if (opcode >= Opcode::iload && opcode <= Opcode::aload_3)
    return is_wide_type(Opcode::iload, Opcode::iload_0, opcode) ? 2 : 1;
  if (opcode >= Opcode::istore && opcode <= Opcode::astore_3) {
    return is_wide_type(Opcode::istore, Opcode::istore_0, opcode) ? 2 : 1;
  }
  return opcode == Opcode::ret || opcode == Opcode::iinc ? 1 : 0;
}

class CodeChecker {
 public:
  CodeChecker(const Code& code, Findings& findings) : code_(code), findings_(findings) {}

  void sizes();
  void instruction(Instruction insn);
  void stack_map(const Attribute& attribute);

 private:
  void invoke(Instruction insn);
  void type_operand(Instruction insn);
  void switch_keys(Instruction insn);
  void frame(const RawFrame& frame, const Attribute& attribute);
  [[nodiscard]] std::string problem_with(RawType type) const;
  void bad(Instruction insn, std::string message) {
    constexpr std::uint32_t kCodeStart = 8;  // max_stack, max_locals, code_length
    const std::uint32_t pc = insn.pc().value();
    findings_.add(std::string(info_of(insn.opcode()).mnemonic) + " " + std::move(message), "pc " + std::to_string(pc),
                  code_.offset() + kCodeStart + pc);
  }

  const Code& code_;
  Findings& findings_;
  std::vector<std::uint32_t> local_sizes_;  // slots of each local of the current frame
};

void CodeChecker::sizes() {
  const auto descriptor = MethodDescriptor::parse(code_.method().descriptor);
  if (!descriptor) return;  // reported with the method
  const std::uint32_t arguments = descriptor->parameter_slots() + (code_.method().has(kAccStatic) ? 0 : 1);
  if (arguments > code_.max_locals()) {
    findings_.add("max_locals " + std::to_string(code_.max_locals()) + " has no room for " + std::to_string(arguments) +
                      " slots of arguments",
                  {}, code_.offset() + 2);
  }
}

void CodeChecker::instruction(Instruction insn) {
  const Opcode opcode = insn.opcode();
  if (const std::uint32_t slots = local_slots(opcode); slots != 0) {
    if (insn.local().value() + slots > code_.max_locals()) {
      bad(insn, "of local " + std::to_string(insn.local().value()) + ", but max_locals is " +
                    std::to_string(code_.max_locals()));
    }
  }
  switch (opcode) {
    case Opcode::invokevirtual:
    case Opcode::invokespecial:
    case Opcode::invokestatic:
    case Opcode::invokeinterface:
    case Opcode::invokedynamic: invoke(insn); break;
    case Opcode::new_:
    case Opcode::multianewarray: type_operand(insn); break;
    case Opcode::tableswitch:
    case Opcode::lookupswitch: switch_keys(insn); break;
    case Opcode::jsr:
    case Opcode::jsr_w:
    case Opcode::ret:
      if (code_.owner().major_version() >= kNoSubroutinesMajor) {
        bad(insn, "is not allowed in class version " + std::to_string(code_.owner().major_version()));
      }
      break;
    default: break;
  }
}

void CodeChecker::invoke(Instruction insn) {
  const MemberRef target = findings_.pool().member(insn.pool_index());
  const Opcode opcode = insn.opcode();
  if (target.name.starts_with('<') && (opcode != Opcode::invokespecial || target.name != "<init>")) {
    bad(insn, "of " + quoted(target.name));
  }
  if (opcode == Opcode::invokeinterface) {
    const auto descriptor = MethodDescriptor::parse(target.descriptor);
    if (descriptor && descriptor->parameter_slots() + 1 != insn.operand_u1(3)) {
      bad(insn, "has count " + std::to_string(insn.operand_u1(3)) + ", but " + quoted(target.descriptor) + " takes " +
                    std::to_string(descriptor->parameter_slots() + 1));
    }
    if (insn.operand_u1(4) != 0) bad(insn, "has a fourth operand byte that is not 0");
  } else if (opcode == Opcode::invokedynamic && (insn.operand_u1(3) != 0 || insn.operand_u1(4) != 0)) {
    bad(insn, "has a third or fourth operand byte that is not 0");
  }
}

void CodeChecker::type_operand(Instruction insn) {
  const std::string_view type = findings_.pool().class_name(insn.pool_index());
  const std::size_t dimensions = std::min(type.find_first_not_of('['), type.size());
  if (insn.opcode() == Opcode::new_) {
    if (dimensions != 0) bad(insn, "of the array type " + quoted(type));
  } else if (insn.operand_u1(3) > dimensions) {
    bad(insn, "of " + std::to_string(insn.operand_u1(3)) + " dimensions, but " + quoted(type) + " has fewer");
  }
}

void CodeChecker::switch_keys(Instruction insn) {
  const Switch cases = insn.as_switch();
  if (cases.is_table()) {
    if (cases.size() == 0) bad(insn, "has high below low");
    return;
  }
  for (std::uint32_t i = 1; i < cases.size(); ++i) {
    if (cases.key(i - 1) < cases.key(i)) continue;
    bad(insn, "has key " + std::to_string(cases.key(i)) + " after " + std::to_string(cases.key(i - 1)));
    return;
  }
}

void CodeChecker::stack_map(const Attribute& attribute) {
  const Findings::Scope scope(findings_, attribute.name);
  local_sizes_.clear();
  if (!code_.method().has(kAccStatic)) local_sizes_.push_back(1);
  if (const auto descriptor = MethodDescriptor::parse(code_.method().descriptor)) {
    for (std::string_view rest = descriptor->parameters(); !rest.empty(); rest.remove_prefix(first_type(rest).size())) {
      local_sizes_.push_back(slots_of(rest[0]));
    }
  }
  RawFrameReader reader(attribute.content);
  RawFrame next;
  while (true) {
    Result<bool> more = reader.next(next);
    if (!more.ok()) return findings_.add(std::move(more).error().shifted(attribute.offset));
    if (!*more) return;
    frame(next, attribute);
  }
}

void CodeChecker::frame(const RawFrame& frame, const Attribute& attribute) {
  const auto add = [&](std::string message) {
    findings_.add(std::move(message), "frame at pc " + std::to_string(frame.pc), attribute.offset + frame.byte_offset);
  };
  if (!code_.is_instruction(Pc(frame.pc))) add("no instruction starts there");
  if (frame.is_full()) local_sizes_.clear();
  if (frame.chopped > local_sizes_.size())
    add("chops " + std::to_string(frame.chopped) + " of " + std::to_string(local_sizes_.size()) + " locals");
  local_sizes_.resize(local_sizes_.size() - std::min<std::size_t>(frame.chopped, local_sizes_.size()));
  std::uint32_t stack_slots = 0;
  for (const RawType type : frame.locals) local_sizes_.push_back(type.slots());
  for (const RawType type : frame.stack) stack_slots += type.slots();
  for (const auto* list : {&frame.locals, &frame.stack}) {
    for (const RawType type : *list) {
      if (std::string problem = problem_with(type); !problem.empty()) add(std::move(problem));
    }
  }
  const std::uint32_t local_slots = std::accumulate(local_sizes_.begin(), local_sizes_.end(), 0U);
  if (local_slots > code_.max_locals()) {
    add("has " + std::to_string(local_slots) + " slots of locals, but max_locals is " +
        std::to_string(code_.max_locals()));
  }
  if (stack_slots > code_.max_stack()) {
    add("has " + std::to_string(stack_slots) + " slots of stack, but max_stack is " +
        std::to_string(code_.max_stack()));
  }
}

std::string CodeChecker::problem_with(RawType type) const {
  if (type.tag == RawType::kObject && !findings_.pool().is(PoolIndex(type.operand), Tag::kClass)) {
    return "Object type #" + std::to_string(type.operand) + " is not a Class entry";
  }
  if (type.tag == RawType::kUninitialized) {
    const Pc pc(type.operand);
    if (!code_.is_instruction(pc) || code_.at(pc).opcode() != Opcode::new_) {
      return "uninitialized " + std::to_string(type.operand) + " does not name a `new`";
    }
  }
  return {};
}

}  // namespace

void check_code(const Code& code, Findings& findings) {
  const Findings::Scope scope(findings, attribute::kCode);
  CodeChecker checker(code, findings);
  checker.sizes();
  for (const Instruction insn : code.instructions()) checker.instruction(insn);
  int stack_maps = 0;
  for (const Attribute& attribute : code.attributes()) {
    // Older versions ignore the attribute.
    if (attribute.name != attribute::kStackMapTable || !code.owner().has_frames()) continue;
    if (++stack_maps == 2) findings.add("has more than one StackMapTable", {}, attribute.offset);
    checker.stack_map(attribute);
  }
  check_attributes(code.attributes(), AttributeOwner::kCode, findings, &code);
}

}  // namespace sonde::classfile
