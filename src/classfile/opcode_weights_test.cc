// SPDX-License-Identifier: Apache-2.0
#include "classfile/opcode_weights.h"

#include <gtest/gtest.h>

namespace sonde::classfile {
namespace {

std::string group_name(Opcode opcode) {
  return std::string(kOpcodeGroupNames[static_cast<std::size_t>(group_of(opcode))]);
}

TEST(OpcodeGroups, FollowWhatOpcodesDo) {
  EXPECT_EQ(group_name(Opcode::nop), "constant");
  EXPECT_EQ(group_name(Opcode::ldc), "constant");
  EXPECT_EQ(group_name(Opcode::iload), "load");
  EXPECT_EQ(group_name(Opcode::aload_0), "load");
  EXPECT_EQ(group_name(Opcode::iaload), "array_load");
  EXPECT_EQ(group_name(Opcode::astore_3), "store");
  EXPECT_EQ(group_name(Opcode::bastore), "array_store");
  EXPECT_EQ(group_name(Opcode::dup_x2), "stack");
  EXPECT_EQ(group_name(Opcode::iadd), "int_math");
  EXPECT_EQ(group_name(Opcode::iinc), "int_math");
  EXPECT_EQ(group_name(Opcode::lxor), "long_math");
  EXPECT_EQ(group_name(Opcode::fmul), "float_math");
  EXPECT_EQ(group_name(Opcode::irem), "divide");
  EXPECT_EQ(group_name(Opcode::fdiv), "float_divide");
  EXPECT_EQ(group_name(Opcode::i2b), "convert");
  EXPECT_EQ(group_name(Opcode::lcmp), "compare");
  EXPECT_EQ(group_name(Opcode::goto_), "branch");
  EXPECT_EQ(group_name(Opcode::ifnull), "branch");
  EXPECT_EQ(group_name(Opcode::tableswitch), "switch");
  EXPECT_EQ(group_name(Opcode::return_), "return");
  EXPECT_EQ(group_name(Opcode::getstatic), "static");
  EXPECT_EQ(group_name(Opcode::putfield), "field");
  EXPECT_EQ(group_name(Opcode::invokestatic), "invoke");
  EXPECT_EQ(group_name(Opcode::invokeinterface), "invoke_interface");
  EXPECT_EQ(group_name(Opcode::invokedynamic), "invoke_dynamic");
  EXPECT_EQ(group_name(Opcode::new_), "new");
  EXPECT_EQ(group_name(Opcode::newarray), "new_array");
  EXPECT_EQ(group_name(Opcode::multianewarray), "new_array");
  EXPECT_EQ(group_name(Opcode::checkcast), "type_check");
  EXPECT_EQ(group_name(Opcode::monitorenter), "monitor");
  EXPECT_EQ(group_name(Opcode::athrow), "throw");
}

TEST(OpcodeWeights, AnOpcodeGoesBeforeItsGroupAndAGroupBeforeTheDefault) {
  const auto weights = OpcodeWeights::parse(
      "# measured\nsonde-weights 1\nname a machine\nscale 10\ndefault 9\nimul 30\nint_math 4\n\n  load\t7  \n");
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  EXPECT_EQ(weights->name(), "a machine");
  EXPECT_EQ(weights->scale(), 10U);
  EXPECT_EQ(weights->of(Opcode::imul), 30U);
  EXPECT_EQ(weights->of(Opcode::iadd), 4U);
  EXPECT_EQ(weights->of(Opcode::aload_0), 7U);
  EXPECT_EQ(weights->of(Opcode::athrow), 9U);
}

TEST(OpcodeWeights, WithoutADefaultABytecodeIsOneUnit) {
  EXPECT_EQ(OpcodeWeights::parse("sonde-weights 1\nscale 100").value().of(Opcode::nop), 100U);
  EXPECT_EQ(OpcodeWeights().of(Opcode::nop), 1U);
}

std::string problem(std::string_view text) {
  const auto weights = OpcodeWeights::parse(text);
  return weights.ok() ? "none" : weights.error().where.path + ": " + weights.error().message;
}

TEST(OpcodeWeights, TellsWhatIsWrongAndWhere) {
  EXPECT_EQ(problem(""), "line 1: a file of weights begins with `sonde-weights 1`");
  EXPECT_EQ(problem("sonde-weights 2"), "line 1: a file of weights begins with `sonde-weights 1`");
  EXPECT_EQ(problem("sonde-weights 1\niload fast"), "line 2: the weight of `iload` is no whole number from 0 to 10000");
  EXPECT_EQ(problem("sonde-weights 1\niload -1"), "line 2: the weight of `iload` is no whole number from 0 to 10000");
  EXPECT_EQ(problem("sonde-weights 1\niload 10001"),
            "line 2: the weight of `iload` is no whole number from 0 to 10000");
  EXPECT_EQ(problem("sonde-weights 1\niload"), "line 2: the weight of `iload` is no whole number from 0 to 10000");
  EXPECT_EQ(problem("sonde-weights 1\n\nload 3\nload 4"), "line 4: `load` was there before");
  EXPECT_EQ(problem("sonde-weights 1\nspeed 3"), "line 2: `speed` is no opcode, no group of opcodes and no setting");
  EXPECT_EQ(problem("sonde-weights 1\nscale 0"), "line 2: `scale` is a number from 1 to 1000");
}

}  // namespace
}  // namespace sonde::classfile
