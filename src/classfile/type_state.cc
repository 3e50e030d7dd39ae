// SPDX-License-Identifier: Apache-2.0
#include "classfile/type_state.h"

#include <array>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

Type type_of(std::string_view descriptor) {
  Type type{.tag = tag_of_descriptor(descriptor.empty() ? 'V' : descriptor[0])};
  if (type.tag != TypeTag::kObject) return type;
  type.name = descriptor[0] == '[' ? descriptor : descriptor.substr(1, descriptor.size() - 2);
  return type;
}

Type read_type(ByteReader& reader, const ConstantPool& pool) {
  Type type{.tag = static_cast<TypeTag>(reader.u1())};
  if (type.tag == TypeTag::kObject) type.name = pool.class_name(PoolIndex(reader.u2()));
  if (type.tag == TypeTag::kUninitialized) type.pc = reader.u2();
  return type;
}

// The types that newarray's operand stands for, from T_BOOLEAN (4) to T_LONG (11).
constexpr std::array<std::string_view, 8> kPrimitiveArrays = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};

bool is_aload(Opcode opcode) {
  return opcode == Opcode::aload || (opcode >= Opcode::aload_0 && opcode <= Opcode::aload_3);
}
bool is_store(Opcode opcode) { return opcode >= Opcode::istore && opcode <= Opcode::astore_3; }

}  // namespace

std::string_view TypeSimulator::keep(std::string text) { return names_.emplace_back(std::move(text)); }

Type TypeSimulator::pop() {
  // Only code that no verifier accepts pops from an empty stack; any type will do for it.
  if (state_.stack.empty()) return {};
  const Type type = state_.stack.back();
  state_.stack.pop_back();
  return type;
}

void TypeSimulator::push_descriptor(std::string_view descriptor) {
  if (!descriptor.empty() && descriptor != "V") push(type_of(descriptor));
}

std::string_view TypeSimulator::element_type(std::string_view array) {
  if (array.size() < 2 || array[0] != '[') return "java/lang/Object";
  array.remove_prefix(1);
  return array[0] == 'L' ? array.substr(1, array.size() - 2) : array;
}

void TypeSimulator::set_locals(const std::vector<Type>& list) {
  const std::size_t slots = state_.locals.size();
  std::size_t slot = 0;
  for (const Type& type : list) {
    if (slot >= slots) break;
    state_.locals[slot++] = type;
    if (type.takes_two_slots() && slot < slots) state_.locals[slot++] = {};
  }
  while (slot < slots) state_.locals[slot++] = {};
}

void TypeSimulator::enter(const Code& code) {
  names_.clear();
  list_.clear();
  state_.stack.clear();
  state_.locals.assign(code.max_locals(), {});
  const Member& method = code.method();
  if (!method.has(kAccStatic)) {
    const bool constructor = method.name == "<init>" && code.owner().name() != "java/lang/Object";
    list_.push_back(constructor ? Type{.tag = TypeTag::kUninitializedThis}
                                : Type{.tag = TypeTag::kObject, .name = code.owner().name()});
  }
  if (const auto descriptor = MethodDescriptor::parse(method.descriptor)) {
    for (std::string_view rest = descriptor->parameters(); !rest.empty();) {
      const std::string_view type = first_type(rest);
      list_.push_back(type_of(type));
      rest.remove_prefix(type.size());
    }
  }
  set_locals(list_);
}

void TypeSimulator::apply_frame(const StackMapTable::Frame& frame, const Code& code) {
  const ConstantPool& pool = code.owner().pool();
  ByteReader reader(frame.body);
  state_.stack.clear();
  if (frame.type == FrameType::kFull) {
    list_.clear();
    for (std::uint16_t n = reader.u2(); n > 0; --n) list_.push_back(read_type(reader, pool));
    for (std::uint16_t n = reader.u2(); n > 0; --n) push(read_type(reader, pool));
  } else if (frame.type >= FrameType::kAppend) {
    for (int n = frame.type - FrameType::kSameExtended; n > 0; --n) list_.push_back(read_type(reader, pool));
  } else if (frame.type >= FrameType::kChop && frame.type < FrameType::kSameExtended) {
    for (int n = FrameType::kSameExtended - frame.type; n > 0 && !list_.empty(); --n) list_.pop_back();
  } else if (frame.type != FrameType::kSameExtended && frame.type >= FrameType::kSameLocals1) {
    push(read_type(reader, pool));
  }
  set_locals(list_);
}

void TypeSimulator::run(const Code& code, const StackMapTable& table,
                        const std::function<void(Pc, const TypeState&)>& visit) {
  enter(code);
  std::size_t next_frame = 0;
  bool known = true;
  for (const Instruction insn : code.instructions()) {
    if (next_frame < table.frames().size() && table.frames()[next_frame].pc == insn.pc()) {
      apply_frame(table.frames()[next_frame++], code);
      known = true;
    }
    if (!known) continue;
    visit(insn.pc(), state_);
    step(code, insn);
    known = falls_through(insn.opcode());
  }
}

void TypeSimulator::store(LocalIndex local, Type type) {
  const std::size_t slot = local.value();
  if (slot >= state_.locals.size()) return;
  // Overwriting the second half of a long makes its first half unusable.
  if (slot > 0 && state_.locals[slot - 1].takes_two_slots()) state_.locals[slot - 1] = {};
  state_.locals[slot] = type;
  if (type.takes_two_slots() && slot + 1 < state_.locals.size()) state_.locals[slot + 1] = {};
}

void TypeSimulator::step(const Code& code, Instruction insn) {
  const Opcode opcode = insn.opcode();
  if (is_aload(opcode)) {
    const std::size_t slot = insn.local().value();
    push(slot < state_.locals.size() ? state_.locals[slot] : Type{});
  } else if (is_store(opcode)) {
    store(insn.local(), pop());
  } else if (opcode == Opcode::aconst_null) {
    push({.tag = TypeTag::kNull});
  } else if (const std::string_view effect = info_of(opcode).effect; effect != "*") {
    const std::size_t arrow = effect.find('>');
    for (std::size_t i = 0; i < arrow; ++i) pop();
    for (const char letter : effect.substr(arrow + 1)) push({.tag = tag_of_descriptor(letter)});
  } else if (opcode >= Opcode::pop && opcode <= Opcode::swap) {
    step_stack(opcode);
  } else {
    step_special(code, insn);
  }
}

void TypeSimulator::step_special(const Code& code, Instruction insn) {
  const ConstantPool& pool = code.owner().pool();
  const Opcode opcode = insn.opcode();
  switch (opcode) {
    case Opcode::aaload: {
      pop();
      const Type array = pop();
      if (array.tag == TypeTag::kNull) return push(array);
      return push_object(element_type(array.name));
    }
    case Opcode::ldc:
    case Opcode::ldc_w:
    case Opcode::ldc2_w:
      switch (pool.tag(insn.pool_index())) {
        case Tag::kInteger: return push({.tag = TypeTag::kInteger});
        case Tag::kFloat: return push({.tag = TypeTag::kFloat});
        case Tag::kLong: return push({.tag = TypeTag::kLong});
        case Tag::kDouble: return push({.tag = TypeTag::kDouble});
        case Tag::kString: return push_object("java/lang/String");
        case Tag::kClass: return push_object("java/lang/Class");
        case Tag::kMethodHandle: return push_object("java/lang/invoke/MethodHandle");
        case Tag::kMethodType: return push_object("java/lang/invoke/MethodType");
        default: return push_descriptor(pool.member(insn.pool_index()).descriptor);
      }
    case Opcode::getfield: pop(); [[fallthrough]];
    case Opcode::getstatic: return push_descriptor(pool.member(insn.pool_index()).descriptor);
    case Opcode::putfield:
      pop();
      pop();
      return;
    case Opcode::putstatic: pop(); return;
    case Opcode::new_:
      return push({.tag = TypeTag::kUninitialized, .pc = static_cast<std::uint16_t>(insn.pc().value())});
    case Opcode::newarray: pop(); return push_object(kPrimitiveArrays[insn.operand_u1(1) - 4U]);
    case Opcode::anewarray: {
      pop();
      const std::string_view element = pool.class_name(insn.pool_index());
      const bool array = !element.empty() && element[0] == '[';
      return push_object(keep(array ? "[" + std::string(element) : "[L" + std::string(element) + ";"));
    }
    case Opcode::multianewarray:
      for (int i = 0; i < insn.operand_u1(3); ++i) pop();
      return push_object(pool.class_name(insn.pool_index()));
    case Opcode::checkcast: pop(); return push_object(pool.class_name(insn.pool_index()));
    default: return invoke(code, insn);
  }
}

void TypeSimulator::invoke(const Code& code, Instruction insn) {
  const MemberRef method = code.owner().pool().member(insn.pool_index());
  const auto descriptor = MethodDescriptor::parse(method.descriptor);
  if (!descriptor) return;
  for (std::string_view rest = descriptor->parameters(); !rest.empty(); rest.remove_prefix(first_type(rest).size()))
    pop();
  if (insn.opcode() != Opcode::invokestatic && insn.opcode() != Opcode::invokedynamic) {
    const Type receiver = pop();
    if (method.name == "<init>") {
      initialize(receiver, receiver.tag == TypeTag::kUninitializedThis ? code.owner().name() : method.class_name);
    }
  }
  push_descriptor(descriptor->return_type());
}

// Every copy of the new object becomes usable at once.
void TypeSimulator::initialize(Type instance, std::string_view class_name) {
  const auto replace = [&](std::vector<Type>& types) {
    for (Type& type : types) {
      if (type.tag == instance.tag && type.pc == instance.pc) type = {.tag = TypeTag::kObject, .name = class_name};
    }
  };
  if (instance.tag != TypeTag::kUninitialized && instance.tag != TypeTag::kUninitializedThis) return;
  replace(state_.locals);
  replace(state_.stack);
}

// dup and its kin move values by slots: a long counts as two.
void TypeSimulator::step_stack(Opcode opcode) {
  // Takes one or two slots' worth of values, bottom first.
  const auto take = [this](int slots) {
    std::vector<Type> taken;
    for (int have = 0; have < slots;) {
      const Type type = pop();
      have += type.takes_two_slots() ? 2 : 1;
      taken.insert(taken.begin(), type);
    }
    return taken;
  };
  const auto put = [this](const std::vector<Type>& types) {
    state_.stack.insert(state_.stack.end(), types.begin(), types.end());
  };
  const auto duplicate = [&](int slots, int below) {
    const std::vector<Type> top = take(slots);
    const std::vector<Type> under = below > 0 ? take(below) : std::vector<Type>{};
    put(top);
    put(under);
    put(top);
  };
  switch (opcode) {
    case Opcode::pop: take(1); break;
    case Opcode::pop2: take(2); break;
    case Opcode::dup: duplicate(1, 0); break;
    case Opcode::dup_x1: duplicate(1, 1); break;
    case Opcode::dup_x2: duplicate(1, 2); break;
    case Opcode::dup2: duplicate(2, 0); break;
    case Opcode::dup2_x1: duplicate(2, 1); break;
    case Opcode::dup2_x2: duplicate(2, 2); break;
    default: {  // swap
      const std::vector<Type> top = take(1);
      const std::vector<Type> under = take(1);
      put(top);
      put(under);
    }
  }
}

void mark_uninitialized_this(const Code& code, const StackMapTable& table, std::vector<std::uint8_t>& marks) {
  marks.assign(code.length(), 0);
  if (code.method().name != "<init>" || code.owner().name() == "java/lang/Object") return;
  if (code.owner().has_frames()) {
    TypeSimulator().run(
        code, table, [&](Pc pc, const TypeState& state) { marks[pc.value()] = state.this_is_uninitialized() ? 1 : 0; });
    return;
  }
  int open = 0;
  for (const Instruction insn : code.instructions()) {
    marks[insn.pc().value()] = 1;
    if (insn.opcode() == Opcode::new_) ++open;
    if (insn.opcode() == Opcode::invokespecial && code.owner().pool().member(insn.pool_index()).name == "<init>" &&
        open-- == 0)
      return;
  }
}

}  // namespace sonde::classfile
