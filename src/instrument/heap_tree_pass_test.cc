// SPDX-License-Identifier: Apache-2.0
// What the scheme of papers/001 inserts. That it counts as ours does: test/e2e/exact/schemes.py.
#include "instrument/heap_tree_pass.h"

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

// Calls of SondeNode by name, everything else by mnemonic, then the exception table.
std::string instrumented(TestClass& cls, CountedMethod& counted) {
  HeapTreePass pass;
  const Instrumented method = instrumented(cls, [&](CodeEditor& code) { return pass.apply(code, 7, counted); });
  return method.code + method.handlers;
}

TEST(HeapTreePass, EvenALeafHasANode) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  CountedMethod counted;
  EXPECT_EQ(instrumented(cls, counted),
            "caller dup astore bipush enter astore aload iconst_2 count iload_0 aload resume ireturn ");
  EXPECT_FALSE(counted.is_leaf);
  EXPECT_EQ(counted.constant_bytecodes, 0u);
  EXPECT_EQ(counted.sites.size(), 1u);
}

TEST(HeapTreePass, EachBlockAddsToTheNode) {
  TestClass cls = class_with_two_paths();
  CountedMethod counted;
  EXPECT_EQ(instrumented(cls, counted),
            "caller dup astore bipush enter astore aload iconst_2 count iload_0 ifeq "
            "aload iconst_2 count iconst_1 aload resume ireturn "
            "aload iconst_2 count iconst_0 aload resume ireturn ");
}

TEST(HeapTreePass, AnExceptionThatLeavesPutsTheCallerBack) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, "invokestatic a/B.f()V\n return");
  CountedMethod counted;
  EXPECT_EQ(instrumented(cls, counted),
            "caller dup astore bipush enter astore aload iconst_2 count invokestatic aload resume return "
            "aload resume athrow [19..22->28]");
}

}  // namespace
}  // namespace sonde::instrument
