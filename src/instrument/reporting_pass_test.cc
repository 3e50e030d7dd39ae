// SPDX-License-Identifier: Apache-2.0
#include "instrument/reporting_pass.h"

#include <gtest/gtest.h>

#include "instrument/test_pass.h"

namespace sonde::instrument {
namespace {

using namespace classfile;
using classfile::testing::assemble;
using classfile::testing::TestClass;

std::string inserted(TestClass& cls) {
  KnownMethods known;
  testing::FixedIds ids;
  ReportingPass pass(known, ids);
  CountedMethod counted;
  const MethodToCount which = {.id = 7, .of_jdk = false, .precision = Precision::kPads};
  return testing::instrumented(cls, [&](CodeEditor& code) { return pass.apply(code, which, counted); }).code;
}

TEST(ReportingPass, SpendsAtTheEntryOfASinglePath) {
  TestClass cls;
  assemble(cls, "iload_0\n ireturn");
  EXPECT_EQ(inserted(cls), "bipush leaf ldc2_w spend iload_0 ireturn ");
}

TEST(ReportingPass, SpendsTheCountBeforeTheMethodEnds) {
  TestClass cls;
  assemble(cls, "iload_0\n ifeq a\n iconst_1\n ireturn\n a:\n iconst_0\n ireturn");
  const std::string code = inserted(cls);
  EXPECT_NE(code.find("iconst_1 iload i2l spend iload i2l bipush leaf ireturn"), std::string::npos) << code;
}

}  // namespace
}  // namespace sonde::instrument
