// SPDX-License-Identifier: Apache-2.0
// What is inserted into each kind of method. That the counts are right is shown against the JVM's own single-step
// events (test/e2e/exact).
#include "instrument/counting_pass.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "classfile/test_class.h"
#include "instrument/test_pass.h"

namespace sonde::instrument {
namespace {

using namespace classfile;
using classfile::testing::assemble;
using classfile::testing::TestClass;
using instrument::testing::class_with_two_paths;
using instrument::testing::FixedIds;
using instrument::testing::Instrumented;
using instrument::testing::instrumented;

struct Counted {
  std::string listing;
  CountedMethod method;
};

std::vector<std::uint8_t> counted_class(TestClass& cls) {
  const KnownMethods known;
  FixedIds ids;
  CountingPass pass(known, ids, Contexts::kTree);
  CountedMethod counted;
  const MethodToCount which = {.id = 7, .of_jdk = false, .precision = Precision::kPads};
  return instrument::testing::rewritten(cls, [&](CodeEditor& code) { return pass.apply(code, which, counted); })
      .value();
}

// Only what was inserted matters here: calls of SondeRT by name, everything else by mnemonic, on one line.
Counted count(TestClass& cls, const KnownMethods& known = {}, Contexts contexts = Contexts::kTree) {
  FixedIds ids;
  CountingPass pass(known, ids, contexts);
  Counted result;
  const MethodToCount which = {.id = 7, .of_jdk = false, .precision = Precision::kPads};
  const Instrumented method =
      instrumented(cls, [&](CodeEditor& code) { return pass.apply(code, which, result.method); });
  result.listing = method.code + method.handlers;
  return result;
}

TEST(CountingPass, ALeafOnASinglePathHasOneProbe) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  const Counted counted = count(cls);
  EXPECT_EQ(counted.listing, "bipush leaf iload_0 ireturn ");
  EXPECT_TRUE(counted.method.is_leaf);
  EXPECT_EQ(counted.method.constant_bytecodes, 2u);
}

TEST(CountingPass, AGetterThatMayThrowHasAPadThatTakesTheRestBack) {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, "aload_0\n getfield a/B.x I\n ireturn");
  EXPECT_EQ(count(cls).listing,
            "bipush leaf aload_0 getfield ireturn "
            "iconst_m1 bipush correctLeaf athrow [6..9->10]");
}

// Neither is there no object, nor can the field be missing.
TEST(CountingPass, AGetterOfAFieldOfThisCannotThrow) {
  TestClass cls;
  cls.max_locals = 1;
  cls.method_flags = kAccPublic;
  cls.field_name = "x";
  assemble(cls, "aload_0\n getfield Test.x I\n ireturn");
  EXPECT_EQ(count(cls).listing, "bipush leaf aload_0 getfield ireturn ");
}

TEST(CountingPass, AFieldOfWhatMayBeNullOrElsewhereMayThrow) {
  const auto rows = [](const std::string& code, std::uint16_t method_flags, std::uint16_t field_flags) {
    TestClass cls;
    cls.max_locals = 2;
    cls.method_flags = method_flags;
    cls.field_name = "x";
    cls.field_flags = field_flags;
    assemble(cls, code);
    return std::ranges::count(count(cls).listing, '[');
  };
  EXPECT_EQ(rows("aload_0\n dup\n getfield Test.x I\n pop\n pop\n return", kAccPublic, 0), 0);
  EXPECT_EQ(rows("aload_0\n getfield Test.x I\n ireturn", kAccPublic | kAccStatic, 0), 1) << "local 0 is an argument";
  EXPECT_EQ(rows("aload_1\n getfield Test.x I\n ireturn", kAccPublic, 0), 1);
  EXPECT_EQ(rows("aload_1\n astore_0\n aload_0\n getfield Test.x I\n ireturn", kAccPublic, 0), 1);
  EXPECT_EQ(rows("aload_0\n getfield Test.y I\n ireturn", kAccPublic, 0), 1) << "not declared here";
  EXPECT_EQ(rows("aload_0\n getfield Other.x I\n ireturn", kAccPublic, 0), 1);
  EXPECT_EQ(rows("aload_0\n getfield Test.x I\n ireturn", kAccPublic, kAccStatic), 1) << "the wrong kind of field";
}

// C1 compiles no method with a handler that is both.
TEST(CountingPass, WhatIsReachedByAnExceptionIsNotReachedByAJump) {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, R"(
      try:    iload_0
              iload_0
              idiv
              iload_0
              idiv
              ireturn
      caught: pop
              iload_0
              iload_0
              irem
              ireturn
      .catch try caught caught)");
  const classfile::testing::ParsedMethod method(counted_class(cls));
  for (const ExceptionEntry& entry : method.code().exceptions()) {
    bool falls_through = true;
    for (const Instruction insn : method.code().instructions()) {
      EXPECT_FALSE(insn.pc() == entry.handler && falls_through) << "into " << entry.handler.value();
      EXPECT_FALSE(insn.opcode() == Opcode::goto_ && insn.branch_target() == entry.handler) << entry.handler.value();
      falls_through = insn.opcode() != Opcode::goto_ && insn.opcode() != Opcode::athrow && !is_return(insn.opcode());
    }
  }
}

TEST(CountingPass, PadsOfAMethodWithACountShareTheirEnd) {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, "iload_0\n ifeq done\n iload_0\n iload_0\n idiv\n iload_0\n idiv\n pop\n done: iconst_0\n ireturn");
  EXPECT_EQ(count(cls).listing,
            "iconst_2 istore iload_0 ifeq iinc iload_0 iload_0 idiv iload_0 idiv pop iinc iconst_0 iload i2l bipush "
            "leaf ireturn iload i2l bipush leaf athrow iinc goto iinc goto [12..13->38][14..15->44]");
}

// 101 divisions in 303 instructions: every instruction would be compared with 101 rows.
TEST(CountingPass, ALongMethodThatMayThrowAnywhereHasOnePad) {
  TestClass cls;
  cls.max_locals = 1;
  std::string divisions = "iload_0\n";
  for (int i = 0; i < 101; ++i) divisions += "iload_0\n idiv\n";
  assemble(cls, divisions + "ireturn");
  const Counted counted = count(cls);
  EXPECT_EQ(counted.method.constant_bytecodes, 0u);
  EXPECT_TRUE(counted.listing.starts_with("iconst_3 istore iload_0 iload_0 idiv iinc iload_0 idiv iinc iload_0 idiv"));
  EXPECT_EQ(std::ranges::count(counted.listing, '['), 1) << counted.listing;
}

TEST(CountingPass, ALeafWithBranchesCountsInALocal) {
  TestClass cls = class_with_two_paths();
  EXPECT_EQ(count(cls).listing,
            "iconst_2 istore iload_0 ifeq "
            "iinc iconst_1 iload i2l bipush leaf ireturn "
            "iinc iconst_0 iload i2l bipush leaf ireturn ");
}

TEST(CountingPass, ACallerPublishesEachCallSite) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, R"(
      .line 12
      invokestatic a/B.f()V
      .line 13
      invokestatic a/B.g()V
      return)");
  const Counted counted = count(cls);
  EXPECT_EQ(counted.listing,
            "site dup2 lstore bipush iconst_3 enter lstore "
            "lload bipush call invokestatic lload bipush call invokestatic lload exit return "
            "lload bipush i2l lload exit athrow lload iconst_m1 i2l lload exit athrow [21..24->40][31..34->51]");
  ASSERT_EQ(counted.method.sites.size(), 3u);
  EXPECT_EQ(counted.method.sites[1].line, 12);
  EXPECT_EQ(counted.method.sites[2].line, 13);
}

TEST(CountingPass, KnownNativesAreCountedByTheirCallers) {
  KnownMethods known;
  known.add({.class_name = "java/lang/System", .name = "nanoTime", .descriptor = "()J"}, KnownKind::kNative);
  known.sort();
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic java/lang/System.nanoTime()J\n pop2\n return");
  const Counted counted = count(cls, known);
  EXPECT_NE(counted.listing.find("lload bipush bipush callNative invokestatic"), std::string::npos) << counted.listing;
}

TEST(CountingPass, WithoutContextsCallersPublishNothing) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  const Counted counted = count(cls, {}, Contexts::kNone);
  EXPECT_EQ(counted.listing,
            "bipush hit invokestatic return "
            "iconst_m1 i2l bipush add athrow [5..8->9]");
  EXPECT_FALSE(counted.method.is_leaf);
  EXPECT_EQ(counted.method.sites.size(), 1u);
}

TEST(CountingPass, WithoutContextsOneProbeAtTheEndCountsCallAndBytecodes) {
  TestClass cls = class_with_two_paths();
  EXPECT_EQ(count(cls, {}, Contexts::kNone).listing,
            "iconst_2 istore iload_0 ifeq "
            "iinc iconst_1 iload i2l bipush hit ireturn "
            "iinc iconst_0 iload i2l bipush hit ireturn ");
}

TEST(CountingPass, WithoutContextsKnownNativesAreCountedByTheirCallers) {
  KnownMethods known;
  known.add({.class_name = "java/lang/System", .name = "nanoTime", .descriptor = "()J"}, KnownKind::kNative);
  known.sort();
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic java/lang/System.nanoTime()J\n pop2\n return");
  EXPECT_TRUE(count(cls, known, Contexts::kNone).listing.starts_with("bipush hit bipush hit invokestatic pop2 return"));
}

TEST(KnownMethods, AreFoundByAllThreeNames) {
  KnownMethods known;
  known.add({.class_name = "a/B", .name = "f", .descriptor = "()V"}, KnownKind::kNative);
  known.add({.class_name = "a/B", .name = "g", .descriptor = "()V"}, KnownKind::kIntrinsic);
  known.add({.class_name = "a/B", .name = "h", .descriptor = "()V"}, KnownKind::kNativeIntrinsic);
  known.sort();
  const std::vector<std::uint8_t> bytes = known.serialize();
  const KnownMethods read = KnownMethods::parse(bytes).value();
  EXPECT_EQ(read.find({.class_name = "a/B", .name = "f", .descriptor = "()V"}), KnownKind::kNative);
  EXPECT_EQ(read.find({.class_name = "a/B", .name = "g", .descriptor = "()V"}), KnownKind::kIntrinsic);
  EXPECT_EQ(read.find({.class_name = "a/B", .name = "h", .descriptor = "()V"}), KnownKind::kNativeIntrinsic);
  EXPECT_EQ(read.find({.class_name = "a/B", .name = "f", .descriptor = "(I)V"}), KnownKind::kNone);
  EXPECT_EQ(read.find({.class_name = "a", .name = "B/f", .descriptor = "()V"}), KnownKind::kNone);
  EXPECT_FALSE(KnownMethods::parse(Bytes(bytes).first(9)).ok());
}

}  // namespace
}  // namespace sonde::instrument
