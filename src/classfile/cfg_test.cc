// SPDX-License-Identifier: Apache-2.0
// Small methods, written as text, next to the graph they give; then rules that must hold for every method of a JDK
// (SONDE_TEST_CLASSES=folder, from `jimage extract`).
#include "classfile/cfg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

using testing::assemble;
using ::testing::ElementsAre;
using testing::ParsedMethod;
using testing::TestClass;

ControlFlowGraph graph_of(std::string_view text, BlockPolicy policy = BlockPolicy::kDefault,
                          std::uint16_t version = 61) {
  TestClass cls;
  cls.major_version = version;
  assemble(cls, text);
  const ParsedMethod method(cls);
  ControlFlowGraph graph;
  const auto built = graph.build(method.code(), policy);
  EXPECT_TRUE(built.ok()) << built.error().to_string();
  return graph;
}

std::vector<int> loop_depths(const ControlFlowGraph& graph) {
  std::vector<int> depths;
  for (std::size_t i = 0; i < graph.blocks().size(); ++i) depths.push_back(graph.loop_depth(BlockId(i)));
  return depths;
}

// B0's is -1, as are those of unreachable blocks.
std::vector<int> dominators(const ControlFlowGraph& graph) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < graph.blocks().size(); ++i) {
    const BlockId id = graph.immediate_dominator(BlockId(i));
    ids.push_back(id == kNoBlock ? -1 : id.value());
  }
  return ids;
}

TEST(ControlFlowGraph, StraightLineIsOneBlock) {
  const ControlFlowGraph graph = graph_of(R"(
      iload_0
      iload_1
      iadd
      ireturn)");
  EXPECT_EQ(to_text(graph), "B0 0..4 (4) return\n");
  EXPECT_TRUE(graph.is_single_path());
  EXPECT_EQ(graph.single_path_length(), 4u);
  EXPECT_TRUE(graph.is_leaf());
  EXPECT_FALSE(graph.has_loops());
}

TEST(ControlFlowGraph, IfElseMeetsAgain) {
  const ControlFlowGraph graph = graph_of(R"(
            iload_0
            ifeq else
            iconst_1
            goto end
      else: iconst_2
      end:  ireturn)");
  EXPECT_EQ(to_text(graph),
            "B0 0..4 (2) -> B2 taken, B1 next\n"
            "B1 4..8 (2) -> B3 taken\n"
            "B2 8..9 (1) -> B3 next\n"
            "B3 9..10 (1) return\n");
  EXPECT_THAT(dominators(graph), ElementsAre(-1, 0, 0, 0));
  EXPECT_EQ(graph.predecessors(BlockId(3)).size(), 2u);
  EXPECT_EQ(graph.predecessors(BlockId(3))[0].from, BlockId(1));
  EXPECT_FALSE(graph.is_single_path());
}

// The method f() of papers/001, figure 5: two instructions, then three, then seven or one.
TEST(ControlFlowGraph, CountsTheLoopOfThePaper) {
  constexpr std::string_view kMethod = R"(
                iconst_1
                istore_1
      loop:     iload_1
                bipush 10
                if_icmpgt done
          .line 7
                aload_0
                invokevirtual a/A.h()V
                aload_0
                iload_1
          .line 8
                invokevirtual a/A.g(I)V
                iinc 1 1
                goto loop
      done:     return)";
  const ControlFlowGraph graph = graph_of(kMethod);
  EXPECT_EQ(to_text(graph),
            "B0 0..2 (2) -> B1 next\n"
            "B1 2..8 (3) -> B3 taken, B2 next\n"
            "B2 8..23 (7) -> B1 taken\n"
            "B3 23..24 (1) return\n");
  EXPECT_TRUE(graph.has_loops());
  EXPECT_THAT(loop_depths(graph), ElementsAre(0, 1, 1, 0));
  ASSERT_EQ(graph.back_edges().size(), 1u);
  EXPECT_EQ(graph.back_edges()[0].from, BlockId(2));
  EXPECT_EQ(graph.back_edges()[0].to, BlockId(1));

  ASSERT_EQ(graph.call_sites().size(), 2u);
  EXPECT_EQ(graph.call_sites()[0].pc, Pc(9));
  EXPECT_EQ(graph.call_sites()[0].line, 7);
  EXPECT_EQ(graph.call_sites()[1].index, 1u);
  EXPECT_EQ(graph.call_sites()[1].line, 8);
  EXPECT_EQ(graph.call_sites()[1].block, BlockId(2));
  EXPECT_FALSE(graph.is_leaf());

  // "If the Precise BBA was used, there would be 3 blocks within the if() statement."
  EXPECT_EQ(to_text(graph_of(kMethod, BlockPolicy::kPrecise)),
            "B0 0..2 (2) -> B1 next\n"
            "B1 2..8 (3) -> B5 taken, B2 next\n"
            "B2 8..12 (2) -> B3 next\n"
            "B3 12..17 (3) -> B4 next\n"
            "B4 17..23 (2) -> B1 taken\n"
            "B5 23..24 (1) return\n");
}

TEST(ControlFlowGraph, LoopsNest) {
  const ControlFlowGraph graph = graph_of(R"(
      outer:  iload_0
              ifeq done
      inner:  iload_1
              ifeq next
              goto inner
      other:  iload_2
              ifeq outer          # a second way back to the outer header
              goto other
      next:   iload_1
              ifne other
              goto outer
      done:   return)");
  EXPECT_EQ(to_text(graph),
            "B0 0..4 (2) -> B7 taken, B1 next\n"
            "B1 4..8 (2) -> B5 taken, B2 next\n"
            "B2 8..11 (1) -> B1 taken\n"
            "B3 11..15 (2) -> B0 taken, B4 next\n"
            "B4 15..18 (1) -> B3 taken\n"
            "B5 18..22 (2) -> B3 taken, B6 next\n"
            "B6 22..25 (1) -> B0 taken\n"
            "B7 25..26 (1) return\n");
  EXPECT_THAT(loop_depths(graph), ElementsAre(1, 2, 2, 2, 2, 1, 1, 0));
  ASSERT_EQ(graph.loops().size(), 3u);
  EXPECT_EQ(graph.loops()[0].header, BlockId(0));
  EXPECT_EQ(graph.loops()[1].parent, LoopId(0));
  EXPECT_EQ(graph.loops()[2].parent, LoopId(0));
  EXPECT_TRUE(graph.contains(LoopId(0), BlockId(4)));
  EXPECT_FALSE(graph.contains(graph.loop_of(BlockId(1)), BlockId(4)));
  EXPECT_EQ(graph.back_edges().size(), 4u);
  EXPECT_TRUE(graph.irreducible_edges().empty());
}

TEST(ControlFlowGraph, SwitchesHaveOneEdgePerCase) {
  EXPECT_EQ(to_text(graph_of(R"(
              iload_0
              tableswitch 5 other: a b a
      a:      return
      b:      return
      other:  return)")),
            "B0 0..28 (2) -> B1 case 0, B2 case 1, B1 case 2, B3 default\n"
            "B1 28..29 (1) return\n"
            "B2 29..30 (1) return\n"
            "B3 30..31 (1) return\n");
  EXPECT_EQ(to_text(graph_of(R"(
              iload_0
              lookupswitch other: -7=a 1000=other
      a:      nop
      other:  return)")),
            "B0 0..28 (2) -> B1 case 0, B2 case 1, B2 default\n"
            "B1 28..29 (1) -> B2 next\n"
            "B2 29..30 (1) return\n");
}

// try { f(); } catch (E e) { } finally { g(); }, as javac writes it.
TEST(ControlFlowGraph, TryCatchFinally) {
  const ControlFlowGraph graph = graph_of(R"(
      try:      invokestatic A.f()V
      tried:    invokestatic A.g()V
                goto end
      catch:    astore_1
      caught:   invokestatic A.g()V
                goto end
      finally:  astore_2
                invokestatic A.g()V
                aload_2
                athrow
      end:      return
      .catch try tried catch E
      .catch try tried finally
      .catch catch caught finally)");
  EXPECT_EQ(to_text(graph),
            "B0 0..9 (3) -> B3 taken; catch B1, B2\n"
            "B1 9..16 (3) -> B3 taken; catch B2\n"
            "B2 16..22 (4) throw\n"
            "B3 22..23 (1) return\n");
  EXPECT_THAT(dominators(graph), ElementsAre(-1, 0, 0, 0));
  EXPECT_TRUE(graph.is_single_path()) << "handlers are not part of normal executions";
  EXPECT_EQ(graph.single_path_length(), 4u);
}

TEST(ControlFlowGraph, RangesMayStartAndEndInsideBlocks) {
  constexpr std::string_view kMethod = R"(
                iconst_1
      try:      ldc2_w 7
                ldc A
      tried:    pop
                return
      catch:    pop
                return
      .catch try tried catch E
      .catch try tried catch F        # the same handler again: one edge
      .catch tried catch catch E)";
  EXPECT_EQ(to_text(graph_of(kMethod)),
            "B0 0..8 (5) return; catch B1\n"
            "B1 8..10 (2) return\n");
  EXPECT_EQ(to_text(graph_of(kMethod, BlockPolicy::kPrecise)),
            "B0 0..6 (3) -> B1 next; catch B2\n"
            "B1 6..8 (2) return; catch B2\n"
            "B2 8..10 (2) return\n");
}

TEST(ControlFlowGraph, PreciseSplitsAfterWhatMayThrow) {
  constexpr std::string_view kMethod = R"(
      ldc 7                 # numbers cannot throw
      ldc 2.5f
      ldc2_w 7
      ldc2_w 2.5
      ldc "text"            # resolution can
      ldc_w 8
      ldc_w A
      iload_0
      iload_1
      idiv
      aload_2
      getfield A.x I
      wide iload 300
      iadd
      ireturn)";
  EXPECT_EQ(to_text(graph_of(kMethod, BlockPolicy::kPrecise)),
            "B0 0..12 (5) -> B1 next\n"
            "B1 12..18 (2) -> B2 next\n"
            "B2 18..21 (3) -> B3 next\n"
            "B3 21..25 (2) -> B4 next\n"
            "B4 25..31 (3) return\n");
  EXPECT_EQ(graph_of(kMethod, BlockPolicy::kPrecise).single_path_length(), 15u);
  EXPECT_EQ(graph_of(kMethod).single_path_length(), 15u);
}

TEST(ControlFlowGraph, HandlerThatCoversItselfIsNoLoop) {
  const ControlFlowGraph graph = graph_of(R"(
                aload_0
                monitorenter
      try:      invokestatic A.f()V
                aload_0
                monitorexit
      tried:    return
      catch:    astore_1
                aload_0
                monitorexit
      caught:   aload_1
                athrow
      .catch try tried catch
      .catch catch caught catch)");
  EXPECT_EQ(to_text(graph),
            "B0 0..8 (6) return; catch B1\n"
            "B1 8..13 (5) throw; catch B1\n");
  EXPECT_FALSE(graph.has_loops());
}

TEST(ControlFlowGraph, RetryAfterAnExceptionIsALoop) {
  const ControlFlowGraph graph = graph_of(R"(
      try:      invokestatic A.f()V
      tried:    return
      catch:    pop
                goto try
      .catch try tried catch)");
  EXPECT_TRUE(graph.has_loops());
  EXPECT_THAT(loop_depths(graph), ElementsAre(1, 1));
  EXPECT_EQ(graph.single_path_length(), 2u);
}

constexpr std::string_view kSubroutine = R"(
                iconst_0
                jsr finally
                iconst_1
                jsr_w finally
                return
      finally:  astore_1
                invokestatic A.f()V
                ret 1)";

TEST(ControlFlowGraph, SubroutineCallsDoNotEndABlock) {
  const ControlFlowGraph graph = graph_of(kSubroutine, BlockPolicy::kDefault, 48);
  EXPECT_EQ(to_text(graph),
            "B0 0..11 (5) -> B1 jsr, B1 jsr return\n"
            "B1 11..17 (3) -> B0 ret\n");
  EXPECT_FALSE(graph.is_single_path());
}

TEST(ControlFlowGraph, SubroutineMayReturnToAfterEachCall) {
  const ControlFlowGraph graph = graph_of(kSubroutine, BlockPolicy::kPrecise, 48);
  EXPECT_EQ(to_text(graph),
            "B0 0..4 (2) -> B3 jsr\n"
            "B1 4..10 (2) -> B3 jsr\n"
            "B2 10..11 (1) return\n"
            "B3 11..15 (2) -> B4 next\n"
            "B4 15..17 (1) -> B1 ret, B2 ret\n");
  EXPECT_THAT(dominators(graph), ElementsAre(-1, 4, 4, 0, 3));
  EXPECT_FALSE(graph.is_single_path());
}

TEST(ControlFlowGraph, CycleWithTwoEntriesIsIrreducible) {
  const ControlFlowGraph graph = graph_of(R"(
             iload_0
             ifeq right
      left:  iload_1
             ifeq done
      right: goto left
      done:  return)");
  EXPECT_TRUE(graph.has_loops());
  EXPECT_TRUE(graph.loops().empty());
  ASSERT_EQ(graph.irreducible_edges().size(), 1u);
  EXPECT_THAT(dominators(graph), ElementsAre(-1, 0, 0, 1));
}

TEST(ControlFlowGraph, GotosDoNotMakeAnotherPath) {
  const ControlFlowGraph graph = graph_of(R"(
             goto second
      first: iconst_0
             goto_w last
      second: nop
             goto first
      last:  ireturn)");
  EXPECT_EQ(graph.single_path_length(), 6u);
  EXPECT_FALSE(graph.has_loops());
}

TEST(ControlFlowGraph, EndlessLoopIsNotASinglePath) {
  const ControlFlowGraph graph = graph_of("self: goto self");
  EXPECT_EQ(to_text(graph), "B0 0..3 (1) -> B0 taken\n");
  EXPECT_FALSE(graph.is_single_path());
  EXPECT_THAT(loop_depths(graph), ElementsAre(1));
}

TEST(ControlFlowGraph, DeadCodeIsKeptButUnreachable) {
  const ControlFlowGraph graph = graph_of(R"(
            goto end
      dead: iload_0
            ifeq dead
      end:  aconst_null
            athrow)");
  EXPECT_EQ(to_text(graph),
            "B0 0..3 (1) -> B2 taken\n"
            "B1 3..7 (2) -> B1 taken, B2 next; unreachable\n"
            "B2 7..9 (2) throw\n");
  EXPECT_FALSE(graph.has_loops());
  EXPECT_THAT(dominators(graph), ElementsAre(-1, -1, 0));
  EXPECT_FALSE(graph.dominates(BlockId(1), BlockId(2)));
  EXPECT_EQ(graph.single_path_length(), 3u) << "a path may end in a throw";
}

TEST(ControlFlowGraph, CodeThatRunsOffItsEndHasNoSuccessorThere) {
  EXPECT_EQ(to_text(graph_of("start: ifeq start")), "B0 0..3 (1) -> B0 taken\n");
  EXPECT_FALSE(graph_of("nop").is_single_path());
}

TEST(ControlFlowGraph, BuildForgetsTheGraphBefore) {
  ControlFlowGraph graph = graph_of("loop: invokestatic A.f()V\n ifeq loop\n return\n .catch loop end loop\n end: nop");
  TestClass cls;
  assemble(cls, "return");
  ASSERT_TRUE(graph.build(ParsedMethod(cls).code()).ok());
  EXPECT_EQ(to_text(graph), "B0 0..1 (1) return\n");
  EXPECT_FALSE(graph.has_loops());
  EXPECT_TRUE(graph.is_leaf());
  EXPECT_TRUE(graph.is_single_path());
}

// Each entry covers from its own pc to the end, and each instruction is a handler: two thousand million edges.
TEST(ControlFlowGraph, HugeExceptionTablesAreRefusedAtOnce) {
  TestClass cls;
  cls.code.assign(kMaxCodeLength, 0);
  for (std::uint32_t pc = 0; pc < kMaxCodeLength; ++pc) cls.exceptions.push_back({pc, kMaxCodeLength, pc});
  const ParsedMethod method(cls);
  ControlFlowGraph graph;
  const auto built = graph.build(method.code());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(built.error().to_string(),
            "method `Test.f()V`, flow graph: exception table or subroutines make more than 1048576 edges");
  EXPECT_TRUE(graph.blocks().empty());
}

// A chain of blocks whose first half throws into its second half, each to its own handler: where the dominators of the
// second half meet is far up the chain, again for each of them.
TEST(ControlFlowGraph, FindsTheDominatorsOfAHostileMethodInTime) {
  constexpr std::uint8_t kIaload = 0x2e;
  TestClass cls;
  cls.code.assign(65000, kIaload);
  for (std::uint32_t pc = 0; pc < 32000; ++pc) cls.exceptions.push_back({pc, pc + 1, 32500 + pc});
  const ParsedMethod method(cls);
  ControlFlowGraph graph;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(graph.build(method.code(), BlockPolicy::kPrecise).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << "usually 10 ms";
  EXPECT_EQ(graph.blocks().size(), 65000u);
  EXPECT_EQ(graph.immediate_dominator(BlockId(32499)), BlockId(32498));
  EXPECT_EQ(graph.immediate_dominator(BlockId(40000)), BlockId(0));
}

TEST(ControlFlowGraph, HugeSubroutineTablesAreRefusedAtOnce) {
  TestClass cls;
  cls.major_version = 48;
  for (int i = 0; i < 10000; ++i) cls.code.insert(cls.code.end(), {0xa8, 0, 3});  // jsr to the next instruction
  for (int i = 0; i < 10000; ++i) cls.code.insert(cls.code.end(), {0xa9, 1});     // ret
  const ParsedMethod method(cls);
  ControlFlowGraph graph;
  EXPECT_FALSE(graph.build(method.code()).ok());
}

// ---- Rules for all methods, checked by definition ----

std::size_t reachable_without(const ControlFlowGraph& graph, BlockId removed, std::vector<char>& seen) {
  seen.assign(graph.blocks().size(), 0);
  std::vector<BlockId> work;
  const auto visit = [&](BlockId id) {
    if (id == removed || seen[id.value()] != 0) return;
    seen[id.value()] = 1;
    work.push_back(id);
  };
  visit(BlockId(0));
  std::size_t count = 0;
  while (!work.empty()) {
    const BlockId id = work.back();
    work.pop_back();
    ++count;
    for (const Edge& edge : graph.successors(id)) visit(edge.to);
    for (const Edge& edge : graph.handlers(id)) visit(edge.to);
  }
  return count;
}

void check_blocks(const ControlFlowGraph& graph, const Code& code) {
  Pc end(0);
  std::size_t instructions = 0;
  for (const Block& block : graph.blocks()) {
    ASSERT_EQ(block.start, end);
    ASSERT_EQ(code.at(block.last).next_pc(), block.end);
    end = block.end;
    instructions += block.instruction_count;
  }
  ASSERT_EQ(end, Pc(code.length()));
  const auto all = code.instructions();
  ASSERT_EQ(instructions, static_cast<std::size_t>(std::distance(all.begin(), all.end())));
  const auto starts_block = [&](Pc pc) { return graph.block(graph.block_at(pc)).start == pc; };
  for (const Pc pc : code.jumps()) {
    if (code.at(pc).is_branch()) {
      ASSERT_TRUE(starts_block(code.at(pc).branch_target()));
      continue;
    }
    const Switch cases = code.at(pc).as_switch();
    ASSERT_TRUE(starts_block(cases.default_target()));
    for (std::uint32_t i = 0; i < cases.size(); ++i) ASSERT_TRUE(starts_block(cases.target(i)));
  }
  for (const ExceptionEntry& entry : code.exceptions()) ASSERT_TRUE(starts_block(entry.handler));
  for (const CallSite& site : graph.call_sites()) ASSERT_EQ(site.line, code.line_at(site.pc));
}

// By definition: a dominates b if b cannot be reached once a is removed.
void check_dominators(const ControlFlowGraph& graph) {
  std::vector<char> all;
  std::vector<char> left;
  ASSERT_EQ(reachable_without(graph, kNoBlock, all), graph.reverse_postorder().size());
  for (std::size_t a = 0; a < graph.blocks().size(); ++a) {
    ASSERT_EQ(all[a] != 0, graph.blocks()[a].is_reachable);
    reachable_without(graph, BlockId(a), left);
    for (std::size_t b = 0; b < graph.blocks().size(); ++b) {
      const bool expected = all[a] != 0 && all[b] != 0 && (a == b || left[b] == 0);
      ASSERT_EQ(graph.dominates(BlockId(a), BlockId(b)), expected) << a << " " << b << "\n" << to_text(graph);
    }
  }
}

// By definition: the loop of a header is what reaches one of its back edges without passing it.
void check_loops(const ControlFlowGraph& graph) {
  for (std::size_t i = 0; i < graph.loops().size(); ++i) {
    const BlockId header = graph.loops()[i].header;
    std::vector<char> body(graph.blocks().size(), 0);
    std::vector<BlockId> work;
    const auto visit = [&](BlockId id) {
      if (body[id.value()] != 0 || !graph.block(id).is_reachable) return;
      body[id.value()] = 1;
      if (id != header) work.push_back(id);
    };
    for (const Edge& edge : graph.back_edges()) {
      if (edge.to == header) visit(edge.from);
    }
    body[header.value()] = 1;
    while (!work.empty()) {
      const BlockId id = work.back();
      work.pop_back();
      for (const Edge& edge : graph.predecessors(id)) visit(edge.from);
    }
    for (std::size_t b = 0; b < body.size(); ++b) {
      ASSERT_EQ(graph.contains(LoopId(i), BlockId(b)), body[b] != 0) << "loop " << i << ", B" << b << "\n"
                                                                     << to_text(graph);
    }
  }
}

// Compilers write no irreducible graphs and few odd handlers; chance does.
TEST(ControlFlowGraph, KeepsItsRulesForRandomMethods) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  constexpr Opcode kSome[] = {Opcode::ifeq, Opcode::ifeq, Opcode::ifeq, Opcode::goto_, Opcode::jsr};
  ControlFlowGraph graph;
  std::size_t irreducible = 0;
  for (int round = 0; round < 3000; ++round) {
    TestClass cls;
    const std::uint32_t count = 2 + below(20);  // instructions of three bytes each
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto opcode = static_cast<std::uint8_t>(kSome[below(round % 4 == 0 ? 5 : 4)]);
      const std::uint32_t offset = (below(count) - i) * 3;
      const bool is_jump = below(3) != 0;
      const auto plain = static_cast<std::uint8_t>(below(4) == 0 ? Opcode::return_ : Opcode::iaload);
      if (is_jump)
        cls.code.insert(cls.code.end(),
                        {opcode, static_cast<std::uint8_t>(offset >> 8), static_cast<std::uint8_t>(offset)});
      if (!is_jump) cls.code.insert(cls.code.end(), {0, 0, plain});
    }
    cls.code.insert(cls.code.end(), {static_cast<std::uint8_t>(Opcode::ret), 1});
    for (std::uint32_t i = below(4); i > 0; --i) {
      const std::uint32_t start = below(count);
      cls.exceptions.push_back({start * 3, (start + 1 + below(count - start)) * 3, below(count) * 3});
    }
    const ParsedMethod method(cls);
    for (const BlockPolicy policy : {BlockPolicy::kDefault, BlockPolicy::kPrecise}) {
      ASSERT_TRUE(graph.build(method.code(), policy).ok());
      check_blocks(graph, method.code());
      check_dominators(graph);
      check_loops(graph);
      ASSERT_FALSE(HasFatalFailure()) << "round " << round;
      irreducible += graph.irreducible_edges().empty() ? 0 : 1;
    }
  }
  EXPECT_GT(irreducible, 100u);
}

TEST(ControlFlowGraphCorpus, KeepsItsRulesForEveryMethod) {
  const char* folder = std::getenv("SONDE_TEST_CLASSES");
  if (folder == nullptr) GTEST_SKIP() << "SONDE_TEST_CLASSES is not set";
  constexpr std::size_t kSmall = 60;  // blocks: the checks by definition are cubic
  ControlFlowGraph graph;
  Code code;
  std::size_t graphs = 0;
  std::size_t small = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".class") continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto cls = ClassFile::parse(bytes);
    ASSERT_TRUE(cls.ok()) << file.path() << cls.error().to_string();
    for (const Member& method : cls->methods()) {
      if (!method.attributes.find(attribute::kCode)) continue;
      ASSERT_TRUE(Code::parse_into(*cls, method, code).ok());
      for (const BlockPolicy policy : {BlockPolicy::kDefault, BlockPolicy::kPrecise}) {
        ASSERT_TRUE(graph.build(code, policy).ok());
        ++graphs;
        check_blocks(graph, code);
        if (graph.blocks().size() <= kSmall) {
          ++small;
          check_dominators(graph);
          check_loops(graph);
        }
        if (HasFatalFailure()) FAIL() << qualified_name(*cls, method);
      }
    }
  }
  RecordProperty("graphs", static_cast<int>(graphs));
  std::cout << graphs << " graphs, " << small << " of them small enough to check by definition\n";
}

}  // namespace
}  // namespace sonde::classfile
