// SPDX-License-Identifier: Apache-2.0
#include "instrument/count_plan.h"

#include <gtest/gtest.h>

#include <sstream>

#include "classfile/test_class.h"

namespace sonde::instrument {
namespace {

using namespace classfile;
using classfile::testing::assemble;
using classfile::testing::ParsedMethod;
using classfile::testing::TestClass;

// "3: k" for every covered pc: what is taken back if it throws; "!" where `this` is not initialised yet.
std::string text_of(const CountPlan& plan, const Code& code) {
  static constexpr const char* kStarts[] = {"entry", "block", "behind super", "behind jsr"};
  std::ostringstream out;
  if (plan.is_single_path())
    out << "constant " << plan.constant_bytecodes() << " + " << plan.bytecodes_after_constructor_call() << "\n";
  for (const Segment& segment : plan.segments()) {
    out << kStarts[static_cast<std::size_t>(segment.start)] << " at " << segment.at.value() << ": " << segment.bytecodes
        << "\n";
  }
  for (const Instruction insn : code.instructions()) {
    const Exposure& exposure = plan.exposure(insn.pc());
    if (!exposure.coverable || !exposure.throws) continue;
    out << insn.pc().value() << (exposure.uninitialized ? "!" : "") << ": -" << exposure.unexecuted << "\n";
  }
  return out.str();
}

std::string plan_of(TestClass& cls, Precision precision = Precision::kPads, const OpcodeWeights* weights = nullptr) {
  const ParsedMethod method(cls);
  CountPlan plan;
  if (weights != nullptr) plan.weigh_by(*weights);
  EXPECT_TRUE(plan.make(method.code(), StackMapTable(), precision).ok());
  return text_of(plan, method.code());
}

TEST(CountPlan, OnASinglePathOnlyInstructionsThatThrowAreCorrected) {
  TestClass cls;
  assemble(cls, R"(
      aload_0
      getfield a/B.x I
      iload_1
      idiv
      ireturn)");
  EXPECT_EQ(plan_of(cls), R"(constant 5 + 0
1: -3
5: -1
)");
}

TEST(CountPlan, WhatIsCountedAndTakenBackIsWeighed) {
  const OpcodeWeights weights = OpcodeWeights::parse("sonde-weights 1\nfield 100\ndivide 2000\nreturn 7").value();
  TestClass single;
  assemble(single, R"(
      aload_0
      getfield a/B.x I
      iload_1
      idiv
      ireturn)");
  EXPECT_EQ(plan_of(single, Precision::kPads, &weights), R"(constant 2109 + 0
1: -2008
5: -7
)");
  TestClass branch;
  assemble(branch, R"(
      iload_0
      ifeq a
      iload_0
      iload_1
      idiv
      ireturn
      a:
      iconst_0
      ireturn)");
  EXPECT_EQ(plan_of(branch, Precision::kPads, &weights), R"(entry at 0: 2
block at 4: 2009
block at 8: 8
6: -7
)");
}

TEST(CountPlan, EachBlockIsASegmentAndAnExceptionTakesBackItsRest) {
  TestClass cls;
  assemble(cls, R"(
        iload_0
        ifeq other
        aload_1
        arraylength
        ireturn
 other: iconst_0
        ireturn)");
  EXPECT_EQ(plan_of(cls), R"(entry at 0: 2
block at 4: 3
block at 7: 2
5: -1
)") << "only arraylength throws by itself";
}

TEST(CountPlan, ALoopToTheFirstInstructionMakesTheEntryABlock) {
  TestClass cls;
  assemble(cls, R"(
 start: iload_0
        ifne start
        return)");
  EXPECT_EQ(plan_of(cls), "block at 0: 2\nblock at 4: 1\n");
}

TEST(CountPlan, WholeBlocksTakeNothingBack) {
  TestClass cls;
  assemble(cls, R"(
        iload_0
        ifeq other
        aload_1
        arraylength
        pop
 other: return)");
  EXPECT_EQ(plan_of(cls, Precision::kWholeBlocks), "entry at 0: 2\nblock at 4: 3\nblock at 7: 1\n4: -0\n5: -0\n");
}

TEST(CountPlan, WholeBlocksTakeNothingBackOnASinglePathEither) {
  TestClass cls;
  assemble(cls, "aload_0\n arraylength\n ireturn");
  EXPECT_EQ(plan_of(cls, Precision::kWholeBlocks), "constant 3 + 0\n1: -0\n");
}

TEST(CountPlan, AShortBlockEndsAtEachInstructionThatMayThrow) {
  TestClass cls;
  assemble(cls, R"(
      aload_0
      getfield a/B.x I
      iload_1
      idiv
      ireturn)");
  EXPECT_EQ(plan_of(cls, Precision::kShortBlocks), R"(entry at 0: 2
block at 4: 2
block at 6: 1
0: -0
1: -0
4: -0
5: -0
)") << "and there is no constant, though there is one path";
}

TEST(CountPlan, AShortBlockBehindSuperBeginsThere) {
  TestClass cls;
  cls.super_name = "a/Parent";
  cls.method_name = "<init>";
  cls.method_flags = kAccPublic;
  assemble(cls, R"(
      aload_0
      getstatic a/B.x I
      invokespecial a/Parent.<init>(I)V
      aload_0
      invokevirtual a/B.f()V
      return)");
  EXPECT_EQ(plan_of(cls, Precision::kShortBlocks), R"(entry at 0: 2
block at 4: 1
behind super at 4: 2
block at 11: 1
0!: -0
1!: -0
7: -0
8: -0
)");
}

TEST(CountPlan, BytecodesBehindSuperAreCountedWhenItIsBack) {
  TestClass cls;
  cls.super_name = "a/Parent";
  cls.method_name = "<init>";
  cls.method_flags = kAccPublic;
  assemble(cls, R"(
      aload_0
      getstatic a/B.x I
      invokespecial a/Parent.<init>(I)V
      aload_0
      invokevirtual a/B.f()V
      return)");
  EXPECT_EQ(plan_of(cls), "constant 3 + 3\n1!: -1\n8: -1\n") << "super() itself is in no range";
}

TEST(CountPlan, ABranchBeforeSuperMakesSegmentsAroundTheCall) {
  TestClass cls;
  cls.major_version = 49;
  cls.super_name = "a/Parent";
  cls.method_name = "<init>";
  cls.method_flags = kAccPublic;
  cls.descriptor = "(I)V";
  assemble(cls, R"(
        aload_0
        iload_1
        ifeq zero
        iconst_1
        goto call
  zero: iconst_0
  call: invokespecial a/Parent.<init>(I)V
        return)");
  EXPECT_EQ(plan_of(cls), R"(entry at 0: 3
block at 5: 2
block at 9: 1
block at 10: 1
behind super at 10: 1
)");
}

TEST(CountPlan, ObjectsConstructorIsNoCall) {
  TestClass cls;
  cls.method_name = "<init>";
  cls.method_flags = kAccPublic;
  assemble(cls, R"(
      aload_0
      invokespecial java/lang/Object.<init>()V
      return)");
  EXPECT_EQ(plan_of(cls), "constant 3 + 0\n");
}

TEST(CountPlan, SubroutinesAreCountedOnTheirOwn) {
  TestClass cls;
  cls.major_version = 48;
  assemble(cls, R"(
        jsr sub
        nop
        return
   sub: astore_0
        ret 0)");
  EXPECT_EQ(plan_of(cls), "block at 0: 1\nbehind jsr at 0: 2\nblock at 5: 2\n");
}

}  // namespace
}  // namespace sonde::instrument
