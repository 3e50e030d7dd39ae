// SPDX-License-Identifier: Apache-2.0
#include "instrument/heap_tree_pass.h"

#include <algorithm>

namespace sonde::instrument {

using namespace classfile;

namespace {

constexpr std::string_view kNode = "java/lang/SondeNode";
constexpr MemberRef kCaller{kNode, "caller", "()Ljava/lang/SondeNode;"};
constexpr MemberRef kEnter{kNode, "enter", "(Ljava/lang/SondeNode;I)Ljava/lang/SondeNode;"};
constexpr MemberRef kCount{kNode, "count", "(Ljava/lang/SondeNode;I)V"};
constexpr MemberRef kResume{kNode, "resume", "(Ljava/lang/SondeNode;)V"};

}  // namespace

Result<void> HeapTreePass::apply(CodeEditor& code, std::uint32_t method_id, CountedMethod& counted) {
  TRY(plan_.make(code.code(), code.stack_maps(), Precision::kWholeBlocks));
  const std::uint16_t line = code.code().line_at(Pc(0)).value_or(0);
  counted = {.is_leaf = false, .constant_bytecodes = 0, .first_line = line, .sites = {{.pc = 0, .line = line}}};
  caller_local_ = code.new_local(kNode);
  node_local_ = code.new_local(kNode);
  insert_entry(code, method_id);
  insert_counts(code);
  insert_exits(code);
  insert_handlers(code);
  return {};
}

void HeapTreePass::count(CodeBuilder& b, std::int32_t bytecodes) const {
  b.load(LocalType::kObject, node_local_).push(bytecodes).invoke_static(kCount);
}

CodeBuilder& HeapTreePass::resume(CodeBuilder& b, LocalIndex node) {
  return b.load(LocalType::kObject, node).invoke_static(kResume);
}

void HeapTreePass::insert_entry(CodeEditor& code, std::uint32_t method_id) {
  code.at_entry(code.snippet([&](CodeBuilder& b) {
    b.invoke_static(kCaller).op(Opcode::dup).store(LocalType::kObject, caller_local_);
    b.push(static_cast<std::int32_t>(method_id)).invoke_static(kEnter).store(LocalType::kObject, node_local_);
    if (plan_.is_single_path()) count(b, plan_.constant_bytecodes() + plan_.bytecodes_after_constructor_call());
  }));
}

void HeapTreePass::insert_counts(CodeEditor& code) {
  for (const Segment& segment : plan_.segments()) {
    const SnippetId snippet = code.snippet([&](CodeBuilder& b) { count(b, segment.bytecodes); });
    switch (segment.start) {
      case Segment::Start::kEntry: code.at_entry(snippet); break;
      case Segment::Start::kBlock: code.before(segment.at, snippet); break;
      case Segment::Start::kConstructorCall:
      case Segment::Start::kSubroutine: code.after(segment.at, snippet); break;
    }
  }
}

void HeapTreePass::insert_exits(CodeEditor& code) {
  const SnippetId exit = code.snippet([&](CodeBuilder& b) { resume(b, caller_local_); });
  for (const Instruction insn : code.code().instructions()) {
    if (is_return(insn.opcode())) code.before(insn.pc(), exit);
  }
}

void HeapTreePass::insert_handlers(CodeEditor& code) {
  // A constructor whose call of super() throws cannot put its caller back, so that has to help itself.
  const SnippetId handle = code.snippet([&](CodeBuilder& b) { resume(b, node_local_); });
  std::vector<Pc> handlers;
  for (const Handler& handler : code.handlers()) handlers.push_back(handler.handler.pc());
  std::ranges::sort(handlers);
  handlers.erase(std::ranges::unique(handlers).begin(), handlers.end());
  for (const Pc pc : handlers) code.before(pc, handle);

  const SnippetId leave = code.snippet([&](CodeBuilder& b) { resume(b, caller_local_).op(Opcode::athrow); });
  std::optional<StubId> stubs[2];  // before and behind super()
  for (const Instruction insn : code.code().instructions()) {
    const Exposure& exposure = plan_.exposure(insn.pc());
    if (!exposure.coverable || !exposure.throws) continue;
    std::optional<StubId>& stub = stubs[exposure.uninitialized ? 0 : 1];
    if (!stub)
      stub = code.append_stub(exposure.uninitialized ? StubFrame::thrown_in_constructor() : StubFrame::thrown(), leave);
    std::vector<Handler>& rows = code.handlers();
    const bool continues = !rows.empty() && rows.back().end == insn.pc() && rows.back().handler.is_stub() &&
                           rows.back().handler.stub() == *stub;
    if (continues) {
      rows.back().end = insn.next_pc();
    } else {
      rows.push_back({.start = insn.pc(), .end = insn.next_pc(), .handler = *stub, .catch_type = PoolIndex(0)});
    }
  }
}

}  // namespace sonde::instrument
