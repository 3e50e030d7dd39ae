// SPDX-License-Identifier: Apache-2.0
// Builds the flow graphs of every method of whatever parses as a class, and checks what must hold for any code, also
// code that no verifier would accept. Seeds: test/fuzz/corpus/cfg_fuzz.
#include "classfile/cfg.h"

namespace sonde::classfile {
namespace {

void check_partition(const ControlFlowGraph& graph, const Code& code) {
  Pc end(0);
  for (const Block& block : graph.blocks()) {
    SONDE_CHECK(block.start == end && block.start < block.end && block.instruction_count > 0);
    SONDE_CHECK(code.is_instruction(block.start) && code.at(block.last).next_pc() == block.end);
    end = block.end;
  }
  SONDE_CHECK(end.value() == code.length());
  for (const Pc pc : code.jumps()) {
    const Instruction jump = code.at(pc);
    const Pc target = jump.is_branch() ? jump.branch_target() : jump.as_switch().default_target();
    SONDE_CHECK(graph.block(graph.block_at(target)).start == target);
  }
}

// Whatever dominates a block dominates all that leads there, and a loop is entered only at its header.
void check_structure(const ControlFlowGraph& graph) {
  std::size_t incoming = 0;
  for (std::size_t i = 0; i < graph.blocks().size(); ++i) incoming += graph.predecessors(BlockId(i)).size();
  SONDE_CHECK(incoming == graph.edges().size());
  for (const Edge& edge : graph.edges()) {
    if (!graph.block(edge.from).is_reachable) continue;
    SONDE_CHECK(graph.block(edge.to).is_reachable);
    const BlockId dominator = graph.immediate_dominator(edge.to);
    if (dominator != kNoBlock) SONDE_CHECK(graph.dominates(dominator, edge.from));
    const LoopId loop = graph.loop_of(edge.to);
    if (loop == kNoLoop || graph.loops()[loop.value()].header == edge.to) continue;
    SONDE_CHECK(graph.contains(loop, edge.from));
  }
  for (const Edge& edge : graph.back_edges()) {
    SONDE_CHECK(graph.contains(graph.loop_of(edge.to), edge.from) && graph.loop_depth(edge.to) > 0);
  }
}

void check_both_graphs(const Code& code, ControlFlowGraph& graph) {
  std::uint32_t path_length = 0;
  for (const BlockPolicy policy : {BlockPolicy::kDefault, BlockPolicy::kPrecise}) {
    if (!graph.build(code, policy).ok()) return;
    check_partition(graph, code);
    check_structure(graph);
    if (policy == BlockPolicy::kPrecise) SONDE_CHECK(graph.single_path_length() == path_length);
    path_length = graph.single_path_length();
    if (graph.blocks().size() < 100) SONDE_CHECK(!to_text(graph).empty());
  }
}

}  // namespace
}  // namespace sonde::classfile

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::classfile;
  const auto cls = ClassFile::parse({data, size});
  if (!cls.ok()) return 0;
  static ControlFlowGraph graph;  // one for all inputs: what a build leaves behind must not matter
  Code code;
  for (const Member& method : cls->methods()) {
    if (Code::parse_into(*cls, method, code).ok()) check_both_graphs(code, graph);
  }
  return 0;
}
