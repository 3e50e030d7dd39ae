// SPDX-License-Identifier: Apache-2.0
#include "instrument/heap_tree_pass.h"

#include "instrument/places.h"

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
  for (const Segment& segment : plan_.segments())
    at_segment(code, segment, code.snippet([&](CodeBuilder& b) { count(b, segment.bytecodes); }));
}

void HeapTreePass::insert_exits(CodeEditor& code) {
  before_returns(code, code.snippet([&](CodeBuilder& b) { resume(b, caller_local_); }));
}

void HeapTreePass::insert_handlers(CodeEditor& code) {
  // A constructor whose call of super() throws cannot put its caller back, so that has to help itself.
  before_handlers(code, code.snippet([&](CodeBuilder& b) { resume(b, node_local_); }));
  cover_what_throws(code, plan_, code.snippet([&](CodeBuilder& b) { resume(b, caller_local_).op(Opcode::athrow); }));
}

}  // namespace sonde::instrument
