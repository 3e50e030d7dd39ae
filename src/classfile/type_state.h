// SPDX-License-Identifier: Apache-2.0
// The verifier's types at any instruction, not only where StackMapTable has a frame. Since every point where paths
// merge has a frame, a forward walk from frame to frame never merges anything: no class hierarchy is asked, no class
// is loaded (JVMS 4.10.1, type checking). Code that no frame reaches (only unverified classes have it) has no state.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "classfile/code.h"
#include "classfile/stack_map.h"

namespace sonde::classfile {

struct Type {
  TypeTag tag = TypeTag::kTop;
  std::uint16_t pc = 0;        // kUninitialized: where the `new` is
  std::string_view name = {};  // kObject: class name or array descriptor

  [[nodiscard]] bool takes_two_slots() const { return tag == TypeTag::kLong || tag == TypeTag::kDouble; }
};

// What is known before one instruction. Locals by slot; the stack by value, bottom first.
struct TypeState {
  std::vector<Type> locals;
  std::vector<Type> stack;

  // Whether `this` of a constructor still waits for super() or this(): flagThisUninit of JVMS 4.10.1.
  [[nodiscard]] bool this_is_uninitialized() const {
    return !locals.empty() && locals[0].tag == TypeTag::kUninitializedThis;
  }
};

class TypeSimulator {
 public:
  // Calls visit(pc, state) before every instruction with a known state, in ascending order.
  void run(const Code& code, const StackMapTable& table, const std::function<void(Pc, const TypeState&)>& visit);

 private:
  void enter(const Code& code);
  void apply_frame(const StackMapTable::Frame& frame, const Code& code);
  void step(const Code& code, Instruction insn);
  void step_special(const Code& code, Instruction insn);
  void step_stack(Opcode opcode);
  void invoke(const Code& code, Instruction insn);
  void initialize(Type instance, std::string_view class_name);
  void store(LocalIndex local, Type type);
  void set_locals(const std::vector<Type>& list);

  void push(Type type) { state_.stack.push_back(type); }
  void push_descriptor(std::string_view descriptor);
  void push_object(std::string_view name) { push({.tag = TypeTag::kObject, .name = name}); }
  Type pop();
  std::string_view keep(std::string text);
  static std::string_view element_type(std::string_view array);

  TypeState state_;
  std::vector<Type> list_;  // locals as StackMapTable counts them: one item for a long
  std::deque<std::string> names_;
};

// 1 for each pc at which `this` of a constructor is not initialised yet, including the call of super() or this()
// itself; all zero in other methods. A handler range may not contain both kinds (the call least of all).
// In classes without frames the call is found by matching `new` with `<init>` in code order, which is how every
// compiler of that time laid constructors out; their verifier accepts either answer.
void mark_uninitialized_this(const Code& code, const StackMapTable& table, std::vector<std::uint8_t>& marks);

}  // namespace sonde::classfile
