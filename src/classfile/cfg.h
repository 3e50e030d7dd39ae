// SPDX-License-Identifier: Apache-2.0
// The control flow graph of one method: basic blocks, edges, dominators, natural loops, and what exact counting asks
// of a method (papers/001, section 4): how many instructions each block has, whether every normal execution takes the
// same path, where the calls are.
//
// A block is entered at its first instruction and counted as a whole. What ends one is the policy's choice:
//   kDefault  only instructions that may change control flow non-sequentially: branches, switches, goto, returns, ret,
//             athrow. Invocations and jsr do not, since execution is expected to come back.
//   kPrecise  also every instruction that may throw, and jsr, whose subroutine may.
// Targets of branches, and exception handlers, always start a block.
//
// Subroutines (jsr/ret, class versions up to 49) are treated conservatively: a ret may go back to after any jsr. Under
// kDefault that is a place in the middle of a block; the edge then leads to that block, so there are more paths in the
// graph than in reality, never fewer. For the same reason a subroutine called in a straight line looks like a loop.
//
// Everything is in flat vectors which the next build() fills again. Time and memory grow with code length, exception
// table and edges, and of those a graph has at most kMaxEdges; the largest method of JDK 25 has a hundredth of that.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "classfile/code.h"

namespace sonde::classfile {

enum class BlockPolicy : std::uint8_t { kDefault, kPrecise };

// Blocks are numbered in the order of their code; B0 is the entry.
using BlockId = Id<struct BlockTag, std::uint16_t>;
inline BlockId next(BlockId id) { return BlockId(static_cast<std::uint16_t>(id.value() + 1)); }  // in code order
inline constexpr BlockId kNoBlock{0xffff};  // 65535 bytes of code make at most blocks 0..65534

enum class EdgeKind : std::uint8_t {
  kNext,         // falls through
  kTaken,        // branch or goto
  kCase,         // of a switch; Edge::case_index says which
  kDefaultCase,  // of a switch
  kJsr,          // into a subroutine
  kRet,          // out of it
  kCatch,        // an exception, from anywhere in the block
};

struct Edge {
  BlockId from;
  BlockId to;
  EdgeKind kind = EdgeKind::kNext;
  std::uint16_t case_index = 0;
};

struct Block {
  Pc start;
  Pc end;   // exclusive
  Pc last;  // the last instruction
  Opcode last_opcode = Opcode::nop;
  bool is_reachable = false;  // from the entry, over edges of all kinds
  std::uint32_t instruction_count = 0;
  std::uint32_t first_edge = 0;  // successors, then handlers; see ControlFlowGraph::successors
  std::uint32_t successor_count = 0;
  std::uint32_t handler_count = 0;

  [[nodiscard]] bool ends_in_return() const { return is_return(last_opcode); }
  [[nodiscard]] bool ends_in_throw() const { return last_opcode == Opcode::athrow; }
};

// A natural loop: the header dominates all of it. Back edges to one header make one loop.
using LoopId = Id<struct LoopTag, std::uint16_t>;
inline constexpr LoopId kNoLoop{0xffff};

struct Loop {
  BlockId header;
  LoopId parent = kNoLoop;  // the innermost loop around this one; has a smaller id
  std::uint16_t depth = 1;  // 1: in no other loop
};

struct CallSite {
  Pc pc;
  Opcode opcode;
  BlockId block;
  std::uint32_t index;                // 0, 1, 2 ... in order of pc
  std::optional<std::uint16_t> line;  // as Code::line_at
};

class ControlFlowGraph {
 public:
  // Beyond this many edges a graph is refused (kTooLarge). Before it counts a handler once per block, build() counts
  // each exception table entry for each block it covers.
  static constexpr std::size_t kMaxEdges = std::size_t{1} << 20;

  // The graph keeps no reference to the code. After an error it is empty.
  [[nodiscard]] Result<void> build(const Code& code, BlockPolicy policy = BlockPolicy::kDefault);

  [[nodiscard]] std::span<const Block> blocks() const { return blocks_; }
  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[id.value()]; }
  // The block of the instruction that starts at pc.
  [[nodiscard]] BlockId block_at(Pc pc) const { return block_of_[pc.value()]; }

  // Without exceptions. Parallel edges are kept, as of two cases with one target.
  [[nodiscard]] std::span<const Edge> successors(BlockId id) const {
    return std::span(edges_).subspan(block(id).first_edge, block(id).successor_count);
  }
  // Handlers whose range meets the block, each once, in the order of the exception table.
  [[nodiscard]] std::span<const Edge> handlers(BlockId id) const {
    return std::span(edges_).subspan(block(id).first_edge + block(id).successor_count, block(id).handler_count);
  }
  // Of all kinds, unreachable ones too, in the order of the blocks they come from.
  [[nodiscard]] std::span<const Edge> predecessors(BlockId id) const {
    return std::span(incoming_).subspan(first_incoming_[id.value()],
                                        first_incoming_[id.value() + 1U] - first_incoming_[id.value()]);
  }
  // Successors and handlers of all blocks, in the order of the blocks.
  [[nodiscard]] std::span<const Edge> edges() const { return edges_; }

  // The reachable blocks, each before its successors except along retreating edges.
  [[nodiscard]] std::span<const BlockId> reverse_postorder() const { return order_; }
  // kNoBlock for the entry and for unreachable blocks.
  [[nodiscard]] BlockId immediate_dominator(BlockId id) const;
  // Whether every path from the entry to `b`, exceptional ones included, goes through `a`. False if unreachable.
  [[nodiscard]] bool dominates(BlockId a, BlockId b) const;

  // Outer loops before inner ones. Exceptional edges count, but a handler that only catches its own exceptions (javac
  // writes one for each synchronized statement) is no loop.
  [[nodiscard]] std::span<const Loop> loops() const { return loops_; }
  // The innermost loop that contains the block.
  [[nodiscard]] LoopId loop_of(BlockId id) const { return loop_of_[id.value()]; }
  [[nodiscard]] std::uint16_t loop_depth(BlockId id) const;
  [[nodiscard]] bool contains(LoopId loop, BlockId id) const;
  [[nodiscard]] std::span<const Edge> back_edges() const { return back_edges_; }
  // Retreating edges to a block that does not dominate where they come from: a cycle with several entries. Such cycles
  // are not in loops(). Which of their edges is named depends on the order of the walk.
  [[nodiscard]] std::span<const Edge> irreducible_edges() const { return irreducible_edges_; }
  // Whether anything may run twice in one invocation, natural loop or not.
  [[nodiscard]] bool has_loops() const { return !back_edges_.empty() || !irreducible_edges_.empty(); }

  // Whether every normal execution runs the same instructions, so that bytecodes = calls × single_path_length(). Gotos
  // are allowed, branches, switches and subroutines are not. Exceptions are left out of it: handlers may exist, and
  // whoever counts corrects at the point where one leaves the path. A path may end in athrow.
  [[nodiscard]] bool is_single_path() const { return single_path_length_ != 0; }
  [[nodiscard]] std::uint32_t single_path_length() const { return single_path_length_; }  // 0 if there are several

  [[nodiscard]] std::span<const CallSite> call_sites() const { return call_sites_; }
  [[nodiscard]] bool is_leaf() const { return call_sites_.empty(); }

 private:
  static constexpr std::uint32_t kUnreached = ~std::uint32_t{0};

  // A block in the tree of the depth-first walk, and what the search for dominators knows of it. Nodes are named by
  // their number in the walk.
  struct WalkNode {
    BlockId block;
    std::uint32_t parent;
    std::uint32_t semidominator;
    std::uint32_t best;                   // of the path up to `ancestor`, the node with the smallest semidominator
    std::uint32_t ancestor = kUnreached;  // none: not finished
    std::uint32_t bucket = kUnreached;    // the first of those that have this node as semidominator
    std::uint32_t next_in_bucket = kUnreached;
    std::uint32_t dominator = 0;
  };

  void clear();
  void mark_targets(const Code& code);
  void split_blocks(const Code& code, BlockPolicy policy);
  void find_lines(const Code& code);
  [[nodiscard]] bool collect_handlers(const Code& code);
  void find_return_points(const Code& code);
  [[nodiscard]] bool connect(const Code& code);
  void connect_jump(BlockId from, Instruction jump);
  void connect_handlers(BlockId from);
  void link_predecessors();
  void order_blocks();
  void find_dominators();
  std::uint32_t best_above(std::uint32_t v);
  void number_dominator_tree();
  void find_retreating_edges();
  void find_loops();
  void fill_loop(LoopId id);
  BlockId loop_head(BlockId id);
  void follow_single_path();

  std::vector<Block> blocks_;
  std::vector<BlockId> block_of_;  // by pc; only the starts of instructions are filled
  std::vector<Edge> edges_;
  std::vector<Edge> incoming_;
  std::vector<std::uint32_t> first_incoming_;
  std::vector<CallSite> call_sites_;
  std::uint32_t single_path_length_ = 0;

  std::vector<BlockId> order_;
  // A block's position in order_. The vectors of dominators are indexed by these positions.
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> dominator_;
  std::vector<std::uint32_t> tree_begin_;  // preorder number in the dominator tree, and size of the subtree
  std::vector<std::uint32_t> tree_size_;

  std::vector<Loop> loops_;
  std::vector<LoopId> loop_of_;
  std::vector<Edge> back_edges_;
  std::vector<Edge> irreducible_edges_;

  // Only used while building.
  std::vector<std::uint8_t> is_target_;       // by pc
  std::vector<std::uint32_t> line_starts_;    // by pc: line + 1
  std::vector<std::uint32_t> first_handler_;  // by block, into handlers_
  std::vector<BlockId> handlers_;             // of each block, in the order of the exception table
  std::vector<BlockId> seen_by_;              // by handler: the last block that listed it
  std::vector<BlockId> return_points_;        // blocks that a ret may go to
  std::vector<std::uint32_t> cursor_;
  std::vector<BlockId> work_;
  std::vector<WalkNode> walk_;
  std::vector<std::uint32_t> walk_number_;  // by block
  std::vector<BlockId> collapsed_into_;     // union-find: a block of a finished loop leads to its header
};

// One line per block: "B0 0..5 (3) -> B1 taken, B2 next; catch B4", (3) being the number of instructions.
std::string to_text(const ControlFlowGraph& graph);

}  // namespace sonde::classfile
