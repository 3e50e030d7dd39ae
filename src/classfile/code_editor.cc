// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_editor.h"

#include <string>

namespace sonde::classfile {

void CodeEdits::clear() {
  bytes.clear();
  frame_offsets.clear();
  snippets.clear();
  entry.clear();
  insertions.clear();
  redirects.clear();
  stubs.clear();
  handlers.clear();
  locals.clear();
}

Result<void> CodeEditor::open(const ClassFile& cls, const Member& method, PoolBuilder& pool) {
  edits_.clear();
  refused_.reset();
  stack_maps_.clear();
  pool_ = &pool;
  TRY(Code::parse_into(cls, method, code_));
  next_local_ = code_.max_locals();
  if (const CodeTable* table = code_.stack_map_table(); table != nullptr && cls.has_frames()) {
    auto parsed = StackMapTable::parse_into(code_, code_.attribute_of(*table), stack_maps_);
    if (!parsed.ok()) return std::move(parsed).error().within("method `" + qualified_name(cls, method) + "`");
  }
  for (std::size_t i = 0; i < code_.exceptions().size(); ++i) {
    const ExceptionEntry& entry = code_.exceptions()[i];
    edits_.handlers.push_back({.start = entry.start,
                               .end = entry.end,
                               .handler = entry.handler,
                               .catch_type = entry.catch_type,
                               .origin = static_cast<std::uint16_t>(i)});
  }
  return {};
}

void CodeEditor::refuse(const char* message, Pc pc) {
  if (refused_) return;
  refused_ = Error{
      ErrorCode::kInvalidArgument, message, {.path = "edit at pc " + std::to_string(pc.value()), .byte_offset = {}}};
}

LocalIndex CodeEditor::add_local(const CodeEdits::Local& local) {
  const std::uint32_t slots = local.slots();
  if (next_local_ + slots > 65535) {
    refused_ =
        Error{ErrorCode::kTooLarge, "no room for another local variable", {.path = "max_locals", .byte_offset = {}}};
    return {};
  }
  edits_.locals.push_back(local);
  next_local_ += slots;
  return LocalIndex(static_cast<std::uint16_t>(next_local_ - slots));
}

SnippetId CodeEditor::add_snippet(std::uint32_t begin, CodeBuilder& builder) {
  const auto first_frame = static_cast<std::uint32_t>(edits_.frame_offsets.size());
  std::vector<std::uint32_t> labels;
  builder.finish(labels);
  edits_.frame_offsets.insert(edits_.frame_offsets.end(), labels.begin(), labels.end());
  if (!builder.is_valid()) refuse("a snippet has an operand, a label or a stack height that does not fit", Pc(0));
  edits_.snippets.push_back({.begin = begin,
                             .size = static_cast<std::uint32_t>(edits_.bytes.size()) - begin,
                             .max_stack = builder.max_stack(),
                             .first_frame = first_frame,
                             .frame_count = static_cast<std::uint32_t>(labels.size())});
  return SnippetId(static_cast<std::uint32_t>(edits_.snippets.size() - 1));
}

void CodeEditor::on_edge(JumpEdge edge, SnippetId snippet) {
  const Pc pc = edge.from;
  if (!code_.is_instruction(pc)) return refuse("no instruction starts here", pc);
  const Instruction insn = code_.at(pc);
  if (edge.which == JumpEdge::kFallThrough) {
    // Code that runs off its end is refused by every verifier, but the parser does not look at control flow.
    if (!falls_through(insn.opcode()) || insn.next_pc().value() == code_.length())
      return refuse("the next instruction is not reached from here", pc);
    edits_.insertions.push_back({.key = pc.value() * 2 + 1, .snippet = snippet});
    return;
  }
  const Flow flow = flow_of(insn.opcode());
  // An unconditional jump has one edge, so the snippet may as well stand before it. (For jsr it must: two ways into one
  // subroutine through different stubs would be two subroutines to the old verifier.)
  if (flow == Flow::jump || flow == Flow::call) return before(pc, snippet);
  Pc target = insn.pc();
  if (flow == Flow::branch && edge.which == JumpEdge::kTaken) {
    target = insn.branch_target();
  } else if (flow == Flow::select && edge.which == JumpEdge::kDefault) {
    target = insn.as_switch().default_target();
  } else if (flow == Flow::select && edge.which < insn.as_switch().size()) {
    target = insn.as_switch().target(edge.which);
  } else {
    return refuse("there is no such edge", pc);
  }
  const StubId stub = append_stub(StubFrame::same_as(target), snippet, target);
  edits_.redirects.push_back({.from = pc, .which = edge.which, .stub = stub});
}

StubId CodeEditor::append_stub(StubFrame frame, SnippetId snippet, std::optional<Target> jump) {
  edits_.stubs.push_back({.frame = frame, .snippet = snippet, .jump = jump});
  return StubId(static_cast<std::uint32_t>(edits_.stubs.size() - 1));
}

}  // namespace sonde::classfile
