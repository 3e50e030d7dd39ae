// SPDX-License-Identifier: Apache-2.0
#include "passes.h"

#include "classfile/type_state.h"

namespace sonde::torture {

using namespace classfile;

std::optional<Pass> pass_named(std::string_view name) {
  if (name == "none") return Pass::kNone;
  if (name == "nop") return Pass::kNop;
  if (name == "edges") return Pass::kEdges;
  if (name == "pads") return Pass::kPads;
  return std::nullopt;
}

namespace {

// A body in finalize()V, even of one nop, makes HotSpot register every instance for finalization: with
// Object.finalize it dies at boot. No pass of Sonde touches an empty one.
bool is_empty_finalizer(const Member& method, const Code& code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.length() == 1;
}

// HotSpot compiles the registration of finalizable objects into the return of Object.<init>; C2 crashes if a handler
// covers that return (seen on JDK 17).
bool is_root_constructor(const Code& code) {
  return code.owner().name() == "java/lang/Object" && code.method().name == "<init>";
}

bool calls_constructor(const Code& code, Pc pc) {
  const Instruction insn = code.at(pc);
  return insn.opcode() == Opcode::invokespecial && code.owner().pool().member(insn.pool_index()).name == "<init>";
}

bool stores_local(Opcode opcode) { return opcode >= Opcode::istore && opcode <= Opcode::astore_3; }

// Cuts [start, end) where `this` of a constructor becomes initialised; the call that does it belongs to neither part.
template <typename Visit>  // void(Pc from, Pc to, bool uninitialized)
void for_each_uniform_range(const Code& code, const std::vector<std::uint8_t>& uninitialized_this, Pc start, Pc end,
                            Visit&& visit) {
  const auto flush = [&](Pc from, Pc to) {
    if (from < to) visit(from, to, uninitialized_this[from.value()] != 0);
  };
  Pc from = start;
  for (Pc pc = start; pc < end;) {
    const Pc next = code.at(pc).next_pc();
    const bool uninitialized = uninitialized_this[pc.value()] != 0;
    if (uninitialized != (uninitialized_this[from.value()] != 0)) {
      flush(from, pc);
      from = pc;
    }
    if (uninitialized && calls_constructor(code, pc)) {
      flush(from, pc);
      from = next;
    }
    pc = next;
  }
  flush(from, end);
}

}  // namespace

Result<Outcome> Torturer::rewrite(const ClassFile& cls) {
  Outcome outcome;
  editor_.open(cls);
  for (const Member& method : cls.methods()) {
    if (!has_code(method)) continue;
    ++outcome.methods;
    CodeEditor* code = TRY(editor_.edit(method));
    if (pass_ != Pass::kNone && is_empty_finalizer(method, code->code())) continue;
    apply(*code);
    if (auto committed = editor_.commit(); !committed.ok()) outcome.refused.push_back(std::move(committed).error());
  }
  outcome.bytes = TRY(editor_.write());
  return outcome;
}

void Torturer::apply(CodeEditor& code) {
  switch (pass_) {
    case Pass::kNone: return;
    case Pass::kNop: return nops(code);
    case Pass::kEdges: return edges(code);
    case Pass::kPads: return pads(code);
  }
}

void Torturer::nops(CodeEditor& code) {
  const LocalIndex local = code.new_local(LocalType::kLong);
  code.at_entry(code.snippet([&](CodeBuilder& b) { b.push_long(0).store(LocalType::kLong, local); }));
  const SnippetId nop = code.snippet([](CodeBuilder& b) { b.op(Opcode::nop); });
  for (const Instruction insn : code.code().instructions()) code.before(insn.pc(), nop);
}

void Torturer::edges(CodeEditor& code) {
  const SnippetId call = code.snippet([](CodeBuilder& b) {
    b.invoke_static({.class_name = "java/lang/SondeTorture", .name = "hit", .descriptor = "()V"});
  });
  code.at_entry(call);
  for (const Pc pc : code.code().jumps()) {
    const Instruction insn = code.code().at(pc);
    if (insn.is_switch()) {
      code.on_edge(JumpEdge::default_of(pc), call);
      for (std::uint32_t i = 0; i < insn.as_switch().size(); ++i) code.on_edge(JumpEdge::case_of(pc, i), call);
      continue;
    }
    code.on_edge(JumpEdge::taken(pc), call);
    if (is_conditional(insn.opcode())) code.on_edge(JumpEdge::fall_through(pc), call);
  }
  // Straight edges too, where the next instruction is reached otherwise as well. A branch inside the snippet makes the
  // editor find the types at places that have no frame.
  const SnippetId skip = code.snippet([](CodeBuilder& b) {
    const CodeBuilder::Label over = b.new_label();
    b.push(0).branch(Opcode::ifne, over);
    b.op(Opcode::nop).place(over);
  });
  for (const Instruction insn : code.code().instructions()) {
    if (stores_local(insn.opcode())) code.after(insn.pc(), skip);
  }
}

void Torturer::pads(CodeEditor& code) {
  if (is_root_constructor(code.code())) return;
  mark_uninitialized_this(code.code(), code.stack_maps(), uninitialized_this_);
  const LocalIndex local = code.new_local(LocalType::kInt);
  code.at_entry(code.snippet([&](CodeBuilder& b) { b.push(0).store(LocalType::kInt, local); }));
  const SnippetId correct = code.snippet([&](CodeBuilder& b) { b.iinc(local, -3); });
  const SnippetId rethrow = code.snippet([&](CodeBuilder& b) { b.iinc(local, 7).op(Opcode::athrow); });
  std::vector<Handler>& handlers = code.handlers();
  std::vector<std::pair<Pc, Pc>> ranges = {{Pc(0), Pc(code.code().length())}};
  for (Handler& handler : handlers) {
    ranges.emplace_back(handler.start, handler.end);
    const Pc original = handler.handler.pc();
    handler.handler = code.append_stub(StubFrame::same_as(original), correct, original);
  }
  // Catch-alls come last, so that nothing is caught that was not caught before.
  for (const auto& [start, end] : ranges) {
    for_each_uniform_range(code.code(), uninitialized_this_, start, end, [&](Pc from, Pc to, bool uninitialized) {
      const StubFrame frame = uninitialized ? StubFrame::thrown_in_constructor() : StubFrame::thrown();
      handlers.push_back(
          {.start = from, .end = to, .handler = code.append_stub(frame, rethrow), .catch_type = PoolIndex(0)});
    });
  }
}

}  // namespace sonde::torture
