// SPDX-License-Identifier: Apache-2.0
#include "cli/bytecode_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

using ::testing::HasSubstr;

TEST(BytecodeMode, HasDefaultsAndSettings) {
  EXPECT_TRUE(is_bytecode_mode("bytecode"));
  EXPECT_TRUE(is_bytecode_mode("bytecode:seed=2"));
  EXPECT_FALSE(is_bytecode_mode("bytecodes"));
  EXPECT_EQ(parse_bytecode_mode("bytecode").value().granularity, 10'000u);
  const BytecodeMode mode = parse_bytecode_mode("bytecode:granularity=500,jitter=0,seed=7,maxpath=50").value();
  EXPECT_EQ(mode.granularity, 500u);
  EXPECT_EQ(mode.jitter, 0u);
  EXPECT_EQ(mode.seed, 7u);
  EXPECT_EQ(mode.max_path, 50u);
}

TEST(BytecodeMode, ContextsAreFromWhereTheyCostLeast) {
  const auto source = [](const char* mode, bool can_trap) {
    return parse_bytecode_mode(mode).value().context_source(can_trap);
  };
  EXPECT_EQ(source("bytecode:granularity=9999", false), "hash");
  EXPECT_EQ(source("bytecode", false), "jvm");
  EXPECT_EQ(source("bytecode:granularity=1000000", false), "jvm");
  EXPECT_EQ(source("bytecode:granularity=9999", true), "hash-trap");
  EXPECT_EQ(source("bytecode", true), "jvm");
  EXPECT_EQ(source("bytecode:granularity=1000000", true), "jvm-trap");
  for (const char* context : {"shadow", "jvm", "hash", "jvm-trap", "hash-trap"}) {
    const std::string mode = std::string("bytecode:granularity=500,context=") + context;
    EXPECT_EQ(source(mode.c_str(), true), context);
  }
}

TEST(BytecodeMode, SaysWhatMakesNoSense) {
  const auto error = [](const char* text) { return parse_bytecode_mode(text).error().message; };
  EXPECT_THAT(error("bytecode:granularity=0"), HasSubstr("granularity is a number from 10 to"));
  EXPECT_THAT(error("bytecode:granularity=-5"), HasSubstr("not `-5`"));
  EXPECT_THAT(error("bytecode:granularity=1e6"), HasSubstr("not `1e6`"));
  EXPECT_THAT(error("bytecode:granularity"), HasSubstr("granularity is a number"));
  EXPECT_THAT(error("bytecode:context=guess"), HasSubstr("not `guess`"));
  EXPECT_THAT(error("bytecode:every=5"), HasSubstr("`every` is no setting"));
}

}  // namespace
}  // namespace sonde::cli
