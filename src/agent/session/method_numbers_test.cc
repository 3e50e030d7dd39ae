// SPDX-License-Identifier: Apache-2.0
#include "agent/session/method_numbers.h"

#include <gtest/gtest.h>

namespace sonde::agent {
namespace {

using instrument::CountedMethod;

const CountedMethod kCallsOnce = {
    .is_leaf = false, .constant_bytecodes = 3, .first_line = 7, .sites = {{.pc = 0, .line = 7}, {.pc = 1, .line = 7}}};

TEST(MethodNumbers, AreEvenForTheJdkAndOddForOthers) {
  MethodNumbers numbers;
  EXPECT_EQ(numbers.next(true), 2U);
  EXPECT_EQ(numbers.next(false), 3U);
  EXPECT_EQ(numbers.next(true), 4U);
  EXPECT_EQ(numbers.largest(), 4U);
}

TEST(MethodNumbers, AreKeptByName) {
  MethodNumbers numbers;
  EXPECT_EQ(numbers.of("A.f()V"), 0U);
  numbers.of("A.f()V") = 3;
  EXPECT_EQ(numbers.of("A.f()V"), 3U);
  EXPECT_EQ(numbers.of("A.g()V"), 0U);
}

TEST(MethodNumbers, AreForMethodsThatAreCountedInTheSameWay) {
  MethodNumbers numbers;
  EXPECT_TRUE(numbers.claim(3, kCallsOnce));
  EXPECT_TRUE(numbers.claim(3, kCallsOnce));
  EXPECT_TRUE(numbers.claim(5, {.is_leaf = true, .sites = {{.pc = 0, .line = 7}}}));
}

TEST(MethodNumbers, AreNotForMethodsWithOtherCalls) {
  MethodNumbers numbers;
  ASSERT_TRUE(numbers.claim(3, kCallsOnce));
  CountedMethod other = kCallsOnce;
  other.sites.push_back({.pc = 4, .line = 7});
  EXPECT_FALSE(numbers.claim(3, other)) << "one more call";
  other = kCallsOnce;
  other.sites[1].line = 8;
  EXPECT_FALSE(numbers.claim(3, other)) << "another line";
  other = kCallsOnce;
  other.constant_bytecodes = 4;
  EXPECT_FALSE(numbers.claim(3, other)) << "another length";
  EXPECT_TRUE(numbers.claim(3, kCallsOnce)) << "it is still that of the first";
}

}  // namespace
}  // namespace sonde::agent
