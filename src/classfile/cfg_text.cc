// SPDX-License-Identifier: Apache-2.0
// A flow graph as text, for tests and for looking at.
#include <span>
#include <string>
#include <string_view>

#include "classfile/cfg.h"

namespace sonde::classfile {
namespace {

std::string name_of(BlockId id) { return "B" + std::to_string(id.value()); }

std::string label_of(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::kNext: return " next";
    case EdgeKind::kTaken: return " taken";
    case EdgeKind::kCase: return " case " + std::to_string(edge.case_index);
    case EdgeKind::kDefaultCase: return " default";
    case EdgeKind::kJsr: return " jsr";
    case EdgeKind::kRet: return " ret";
    case EdgeKind::kCatch: return "";
  }
  return "";
}

void append_list(std::string& text, std::string_view lead, std::span<const Edge> edges) {
  for (const Edge& edge : edges) {
    text += lead;
    text += name_of(edge.to) + label_of(edge);
    lead = ", ";
  }
}

}  // namespace

std::string to_text(const ControlFlowGraph& graph) {
  std::string text;
  for (BlockId id(0); id.value() < graph.blocks().size(); id = next(id)) {
    const Block& block = graph.block(id);
    text += name_of(id) + " " + std::to_string(block.start.value()) + ".." + std::to_string(block.end.value()) + " (" +
            std::to_string(block.instruction_count) + ")";
    append_list(text, " -> ", graph.successors(id));
    if (block.ends_in_return()) text += " return";
    if (block.ends_in_throw()) text += " throw";
    append_list(text, "; catch ", graph.handlers(id));
    if (!block.is_reachable) text += "; unreachable";
    text += "\n";
  }
  return text;
}

}  // namespace sonde::classfile
