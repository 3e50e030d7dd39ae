// SPDX-License-Identifier: Apache-2.0
// What is inserted into each kind of method. That samples are right is shown against exact counting
// (test/e2e/bytecode).
#include "instrument/sampling_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classfile/test_class.h"
#include "instrument/test_pass.h"

namespace sonde::instrument {
namespace {

using namespace classfile;
using classfile::testing::assemble;
using classfile::testing::TestClass;
using instrument::testing::class_with_two_paths;
using instrument::testing::FixedIds;
using instrument::testing::instrumented;

class SiteLog final : public SiteNumbers {
 public:
  Result<std::uint32_t> add_sites(std::uint32_t method_id, bool leaf, std::span<const std::uint32_t> callees) override {
    if (is_full) return Error{ErrorCode::kTooLarge, "no room for more call sites"};
    method = method_id;
    is_leaf = leaf;
    native_callees.assign(callees.begin(), callees.end());
    return 50;
  }
  bool is_full = false;
  std::uint32_t method = 0;
  bool is_leaf = false;
  std::vector<std::uint32_t> native_callees;
};

constexpr std::uint32_t kApplicationMethod = 7;
constexpr std::uint32_t kJdkMethod = 8;

TestClass class_that_may_call() {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, R"(
        iload_0
        ifeq end
        invokestatic a/B.f()V
   end: return)");
  return cls;
}

class SamplingPassTest : public ::testing::Test {
 protected:
  // Calls of SondeSampling by name, everything else by mnemonic, on one line.
  std::string inserted(TestClass& cls, std::uint32_t id = kApplicationMethod, bool jdk_counts = false,
                       ContextFrom context_from = ContextFrom::kShadowStack) {
    FixedIds ids;
    SamplingPass pass(known_, ids, sites_, context_from, jdk_counts, weights_);
    CountedMethod counted;
    const MethodToCount which = {.id = id, .of_jdk = id == kJdkMethod, .precision = Precision::kPads};
    return instrumented(cls, [&](CodeEditor& code) { return pass.apply(code, which, counted); }).code;
  }

  KnownMethods known_;
  SiteLog sites_;
  const OpcodeWeights* weights_ = nullptr;
};

TEST_F(SamplingPassTest, ALeafOnASinglePathSpendsAtItsEntry) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(inserted(cls), "iconst_2 i2l bipush leaf iload_0 ireturn ");
  EXPECT_EQ(sites_.method, kApplicationMethod);
  EXPECT_TRUE(sites_.is_leaf);
  EXPECT_EQ(sites_.native_callees, std::vector<std::uint32_t>{0});
}

TEST_F(SamplingPassTest, AGetterThatThrowsGivesTheRestBack) {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, "aload_0\n getfield a/B.x I\n ireturn");
  EXPECT_EQ(inserted(cls), "iconst_3 i2l bipush leaf aload_0 getfield ireturn iconst_m1 i2l bipush leaf athrow ");
}

TEST_F(SamplingPassTest, ALeafWithBranchesCountsInALocal) {
  TestClass cls = class_with_two_paths();
  EXPECT_EQ(inserted(cls),
            "iconst_2 istore iload_0 ifeq "
            "iinc iconst_1 iload i2l bipush leaf ireturn "
            "iinc iconst_0 iload i2l bipush leaf ireturn ");
}

TEST_F(SamplingPassTest, ACallerHasASlotAndGivesItBackHoweverItEnds) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, R"(
      invokestatic a/B.f()V
      invokestatic a/B.g()V
      return)");
  EXPECT_EQ(inserted(cls),
            "bipush enter lstore lload iconst_3 i2l bipush spend "
            "lload bipush iconst_1 call invokestatic lload bipush iconst_2 call invokestatic "
            "lload leave return "
            "lload bipush i2l bipush exit athrow lload iconst_m1 i2l bipush exit athrow ");
  EXPECT_EQ(sites_.native_callees, (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST_F(SamplingPassTest, ACallerWithBranchesSpendsAtItsEnd) {
  TestClass cls = class_that_may_call();
  EXPECT_EQ(inserted(cls),
            "bipush enter lstore iconst_2 istore iload_0 ifeq "
            "iinc lload bipush iconst_1 call invokestatic "
            "iinc lload iload i2l bipush exit return lload iload i2l bipush exit athrow ");
}

TEST_F(SamplingPassTest, KnownNativesAreInTheTableOfSites) {
  known_.add({.class_name = "java/lang/System", .name = "initProperties", .descriptor = "()V"}, KnownKind::kNative);
  known_.sort();
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic java/lang/System.initProperties()V\n return");
  inserted(cls);
  EXPECT_EQ(sites_.native_callees, (std::vector<std::uint32_t>{0, 99}));
}

TEST_F(SamplingPassTest, WhereTheJdkDoesNotCountItsOwnCallsMakeNoCaller) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic java/lang/System.nanoTime()J\n pop2\n return");
  EXPECT_EQ(inserted(cls).substr(0, 38), "iconst_3 i2l bipush leaf invokestatic ");
  EXPECT_TRUE(sites_.is_leaf);
  EXPECT_EQ(inserted(cls, kApplicationMethod, true).substr(0, 24), "bipush enterApplication ");
  EXPECT_FALSE(sites_.is_leaf);
}

TEST_F(SamplingPassTest, WhereTheJdkCountsItsMethodsAndOthersAreToldApart) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  EXPECT_NE(inserted(cls, kApplicationMethod, true).find("enterApplication"), std::string::npos);
  EXPECT_NE(inserted(cls, kJdkMethod, true).find("spendOfJdk"), std::string::npos);
  EXPECT_EQ(inserted(cls, kApplicationMethod, true).find("OfJdk"), std::string::npos);
}

TEST_F(SamplingPassTest, WithoutAShadowStackEveryMethodIsLikeALeaf) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, R"(
      invokestatic a/B.f()V
      invokestatic a/B.g()V
      return)");
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kJvm),
            "iconst_3 i2l bipush leaf invokestatic invokestatic return "
            "bipush i2l bipush leaf athrow iconst_m1 i2l bipush leaf athrow ");
  EXPECT_FALSE(sites_.is_leaf);
  EXPECT_EQ(sites_.native_callees.size(), 3u);
  // Called by an intrinsic, application code counts again, and so does what it calls.
  EXPECT_EQ(inserted(cls, kApplicationMethod, true, ContextFrom::kJvm).substr(0, 20), "enterVisible lstore ");
}

TEST_F(SamplingPassTest, AHashOfItsCallersIsHandedOnWithEachCallAndTakenBackHoweverItEnds) {
  TestClass cls = class_that_may_call();
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kHash),
            "callers lstore iconst_2 istore iload_0 ifeq "
            "iinc lload bipush callFrom invokestatic "
            "iinc lload calledFrom iload i2l bipush leaf return lload calledFrom iload i2l bipush leaf athrow ");
}

TEST_F(SamplingPassTest, ASinglePathThatCallsOthersTakesItsHashBackThoughItHasCounted) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kHash),
            "callers lstore iconst_2 i2l bipush leaf lload bipush callFrom invokestatic lload calledFrom return "
            "lload calledFrom iconst_m1 i2l bipush leaf athrow ");
  EXPECT_EQ(inserted(cls, kApplicationMethod, true, ContextFrom::kHash).substr(0, 35),
            "enterVisible lstore callers lstore ");
}

TEST_F(SamplingPassTest, ALeafHandsNothingOn) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kHash), "iconst_2 i2l bipush leaf iload_0 ireturn ");
}

TEST_F(SamplingPassTest, SamplesByTrapsAreLikeThoseOfTheJvmsStack) {
  TestClass cls = class_that_may_call();
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kJvmByTrap),
            "iconst_2 istore iload_0 ifeq iinc invokestatic "
            "iinc iload i2l bipush leafByTrap return iload i2l bipush leafByTrap athrow ");
}

TEST_F(SamplingPassTest, WithHashesAndTrapsTheHashIsHandedOverAndTakenBackAtTheEndOnly) {
  TestClass cls = class_that_may_call();
  EXPECT_EQ(inserted(cls, kApplicationMethod, false, ContextFrom::kHashByTrap),
            "callers lstore iconst_2 istore iload_0 ifeq iinc lload bipush callFrom invokestatic "
            "iinc lload calledFrom iload i2l bipush lload spendByHash return "
            "lload calledFrom iload i2l bipush lload spendByHash athrow ");
  TestClass leaf;
  assemble(leaf, "iload_0\n ireturn");
  EXPECT_EQ(inserted(leaf, kApplicationMethod, false, ContextFrom::kHashByTrap),
            "iconst_2 i2l bipush leafByHash iload_0 ireturn ");
  TestClass loop;
  assemble(loop, "again: iload_0\n ifne again\n return");
  EXPECT_THAT(inserted(loop, kApplicationMethod, false, ContextFrom::kHashByTrap),
              ::testing::HasSubstr("leafWithLoops return "));
}

TEST_F(SamplingPassTest, AFullTableOfSitesIsAnError) {
  sites_.is_full = true;
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(inserted(cls), "no room for more call sites");
}

TEST_F(SamplingPassTest, SpendsWhatBytecodesWeigh) {
  const OpcodeWeights weighed = OpcodeWeights::parse("sonde-weights 1\nscale 10\nload 300\nreturn 20").value();
  weights_ = &weighed;
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(inserted(cls), "sipush i2l bipush leaf iload_0 ireturn ");
}

}  // namespace
}  // namespace sonde::instrument
