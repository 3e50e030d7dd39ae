// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/compiled_scopes.h"

#include <gtest/gtest.h>

namespace sonde::agent::hotspot {
namespace {

// As in pcDesc.hpp: the first and the last description are no places, and have no scope.
const std::vector<PcScope> kPcs{{.pc_offset = -1, .scope = 0},
                                {.pc_offset = 20, .scope = 7},
                                {.pc_offset = 48, .scope = 9},
                                {.pc_offset = 4096, .scope = 0}};

TEST(CompiledScopesTest, AnInstructionIsInTheScopeThatEndsBehindIt) {
  const CompiledMethod method{.pcs = kPcs, .scopes = {}};
  EXPECT_EQ(method.scope_at(0), 7);
  EXPECT_EQ(method.scope_at(20), 7) << "the return address of a call";
  EXPECT_EQ(method.scope_at(21), 9);
  EXPECT_EQ(method.scope_at(49), 0) << "nothing is known of it";
  EXPECT_EQ(method.scope_at(5000), 0) << "behind the code";
  EXPECT_EQ(CompiledMethod{}.scope_at(20), 0);
}

TEST(CompiledScopesTest, MethodsAreFoundByCompileId) {
  CompiledMethods methods;
  EXPECT_EQ(methods.find(3), nullptr);
  CompiledMethod& added = methods.add(3, kPcs);
  methods.add_scope(added, 7, {.frame = {.method_id = 5, .line = 10, .bci = 2}, .caller = 9});
  methods.add(4, {});
  ASSERT_EQ(methods.find(3), &added);
  ASSERT_NE(added.find(7), nullptr);
  EXPECT_EQ(added.find(7)->frame.method_id, 5u);
  EXPECT_EQ(added.find(9), nullptr) << "nobody asked for it yet";
  EXPECT_EQ(methods.find(4)->find(7), nullptr);
}

TEST(CompiledScopesTest, MemoryIsBounded) {
  CompiledMethods methods;
  const std::vector<PcScope> large(10'000, PcScope{.pc_offset = 1, .scope = 1});
  for (std::uint64_t id = 0; id < 1000; ++id) {
    CompiledMethod& method = methods.add(id, large);
    methods.add_scope(method, 1, {.frame = {}, .caller = 0});
    ASSERT_LE(methods.memory_bytes(), CompiledMethods::kMostBytes + 100);
    ASSERT_EQ(methods.find(id), &method) << "the newest one is there";
  }
  EXPECT_EQ(methods.find(0), nullptr);
}

TEST(CompiledScopesTest, OneThatIsLargerThanTheTableIsKeptAlone) {
  CompiledMethods methods;
  methods.add(1, kPcs);
  methods.add(2, std::vector<PcScope>(1'000'000, PcScope{.pc_offset = 1, .scope = 1}));
  EXPECT_EQ(methods.find(1), nullptr);
  EXPECT_NE(methods.find(2), nullptr);
  methods.add(3, kPcs);
  EXPECT_EQ(methods.find(2), nullptr);
}

}  // namespace
}  // namespace sonde::agent::hotspot
