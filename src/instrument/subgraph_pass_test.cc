// SPDX-License-Identifier: Apache-2.0
// What is inserted for call subgraphs. That calls and times are right: test/e2e/subgraph.
#include "instrument/subgraph_pass.h"

#include <gtest/gtest.h>

#include "classfile/test_class.h"
#include "instrument/test_pass.h"

namespace sonde::instrument {
namespace {

using namespace classfile;
using classfile::testing::assemble;
using classfile::testing::TestClass;
using instrument::testing::class_with_two_paths;
using instrument::testing::Instrumented;
using instrument::testing::instrumented;

// Sites from 40 on.
class AllSites final : public CallSites {
 public:
  std::vector<Probe> probes_at(const Code& code, Instruction call) override {
    const MemberRef callee = code.owner().pool().member(call.pool_index());
    if (callee.name == "boring") return {};
    if (callee.name == "takes")
      return {{.number = next_++, .kind = Kind::kPassed, .depth = 0},
              {.number = next_++, .kind = Kind::kPassed, .depth = 1}};
    const std::uint32_t depth = receiver_depth(call.opcode(), callee.descriptor);
    if (depth > kDeepest) return {{.number = next_++, .kind = Kind::kBound}};
    const bool is_handle = callee.class_name == "java/lang/reflect/Method";
    return {{.number = next_++, .kind = is_handle ? Kind::kHandle : Kind::kReceiver, .depth = depth}};
  }

 private:
  std::uint32_t next_ = 40;
};

std::string instrumented(TestClass& cls, SubgraphMethod method) {
  SubgraphPass pass;
  const Instrumented result = instrumented(cls, [&](CodeEditor& code) { return pass.apply(code, method); });
  return result.code + result.handlers;
}

constexpr SubgraphMethod kInner{
    .id = 7, .role = SubgraphRole::kInner, .clock = SubgraphClock::kWall, .bytecodes = false, .sites = nullptr};

// A method whose calls lead on, without being measured itself.
std::string followed(TestClass& cls) {
  AllSites sites;
  SubgraphMethod method = kInner;
  method.role = SubgraphRole::kFollowed;
  method.sites = &sites;
  return instrumented(cls, method);
}

TEST(SubgraphPass, TimesAMethod) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(instrumented(cls, kInner),
            "inside dup2 lstore caller lstore lload lload bipush iconst_1 enter lstore lload start lstore iload_0 "
            "lload lload lload lload exit ireturn ");
}

TEST(SubgraphPass, CountsCallsWithoutAClock) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  SubgraphMethod method = kInner;
  method.clock = SubgraphClock::kNone;
  EXPECT_EQ(instrumented(cls, method),
            "inside dup2 lstore caller lstore lload lload bipush iconst_1 enter lstore iload_0 "
            "lload lload lload exit ireturn ");
}

TEST(SubgraphPass, ARootMayBeEnteredFromOutside) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  SubgraphMethod method = kInner;
  method.role = SubgraphRole::kRoot;
  method.clock = SubgraphClock::kCpu;
  EXPECT_EQ(instrumented(cls, method),
            "rootEntry dup2 lstore caller lstore lload lload bipush iconst_1 enterRoot lstore lload startCpu lstore "
            "iload_0 lload lload lload lload exitRootCpu ireturn ");
}

TEST(SubgraphPass, AFollowedMethodOnlyTellsWhatItCalls) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  EXPECT_EQ(followed(cls), "current lstore lload bipush call invokestatic return ");
}

TEST(SubgraphPass, AnExceptionThatLeavesIsCounted) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  SubgraphMethod method = kInner;
  method.clock = SubgraphClock::kNone;
  EXPECT_EQ(instrumented(cls, method),
            "inside dup2 lstore caller lstore lload lload bipush iconst_1 enter lstore invokestatic "
            "lload lload lload exit return lload lload thrown lload lload lload exit athrow [23..26->36]");
}

TEST(SubgraphPass, FindsTheReceiverBelowUpToTwoWords) {
  TestClass cls;
  cls.max_stack = 4;
  assemble(cls, R"(
        aconst_null
        invokevirtual java/lang/Object.a()V
        aconst_null
        iconst_0
        invokevirtual java/lang/Object.b(I)V
        aconst_null
        lconst_0
        invokevirtual java/lang/Object.c(J)V
        aconst_null
        iconst_0
        lconst_0
        invokevirtual java/lang/Object.d(IJ)V
        iconst_0
        ireturn)");
  EXPECT_EQ(followed(cls),
            "current lstore aconst_null dup lload bipush call invokevirtual "
            "aconst_null iconst_0 dup2 pop lload bipush call invokevirtual "
            "aconst_null lconst_0 dup2_x1 pop2 dup_x2 lload bipush call invokevirtual "
            "aconst_null iconst_0 lconst_0 lload bipush call invokevirtual iconst_0 ireturn ");
}

TEST(SubgraphPass, AHandleTellsWhatItCalls) {
  TestClass cls;
  cls.max_stack = 3;
  assemble(cls, R"(
        aconst_null
        aconst_null
        aconst_null
        invokevirtual java/lang/reflect/Method.invoke(Ljava/lang/Object;[Ljava/lang/Object;)V
        invokestatic a/B.boring()V
        iconst_0
        ireturn)");
  EXPECT_EQ(followed(cls),
            "current lstore aconst_null aconst_null aconst_null dup2_x1 pop2 dup_x2 lload bipush reflected "
            "invokevirtual invokestatic iconst_0 ireturn ");
}

TEST(SubgraphPass, ArgumentsAreLookedAt) {
  TestClass cls;
  cls.max_stack = 2;
  assemble(cls, R"(
        aconst_null
        aconst_null
        invokestatic java/util/Objects.takes(Ljava/lang/Object;Ljava/lang/Object;)V
        iconst_0
        ireturn)");
  EXPECT_EQ(followed(cls),
            "current lstore aconst_null aconst_null dup lload bipush call dup2 pop lload bipush call "
            "invokestatic iconst_0 ireturn ");
}

TEST(SubgraphPass, BytecodesAreCountedByBlocks) {
  TestClass cls = class_with_two_paths();
  SubgraphMethod method = kInner;
  method.clock = SubgraphClock::kNone;
  method.bytecodes = true;
  EXPECT_EQ(instrumented(cls, method),
            "inside dup2 lstore caller lstore lload lload bipush iconst_1 enter lstore lconst_0 lstore "
            "lload iconst_2 i2l ladd lstore iload_0 ifeq "
            "lload iconst_2 i2l ladd lstore iconst_1 lload lload lload add lload lload lload exit ireturn "
            "lload iconst_2 i2l ladd lstore iconst_0 lload lload lload add lload lload lload exit ireturn ");
}

}  // namespace
}  // namespace sonde::instrument
