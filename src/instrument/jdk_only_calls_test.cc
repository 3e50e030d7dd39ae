// SPDX-License-Identifier: Apache-2.0
#include "instrument/jdk_only_calls.h"

#include <gtest/gtest.h>

namespace sonde::instrument {
namespace {

bool stays(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  return stays_in_jdk({.class_name = class_name, .name = name, .descriptor = descriptor});
}

TEST(JdkOnlyCalls, StringsAndNumbersCallNobodyElse) {
  EXPECT_TRUE(stays("java/lang/String", "charAt", "(I)C"));
  EXPECT_TRUE(stays("java/lang/String", "indexOf", "(Ljava/lang/String;I)I"));
  EXPECT_TRUE(stays("java/lang/String", "equals", "(Ljava/lang/Object;)Z"));
  EXPECT_TRUE(stays("java/lang/StringBuilder", "append", "([CII)Ljava/lang/StringBuilder;"));
  EXPECT_TRUE(stays("java/lang/StringBuilder", "<init>", "()V"));
  EXPECT_TRUE(stays("java/lang/Integer", "valueOf", "(I)Ljava/lang/Integer;"));
  EXPECT_TRUE(stays("java/lang/Math", "max", "(JJ)J"));
  EXPECT_TRUE(stays("java/lang/System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V"));
  EXPECT_TRUE(stays("java/lang/Object", "getClass", "()Ljava/lang/Class;"));
}

TEST(JdkOnlyCalls, AnArgumentMayHaveCodeOfTheProgram) {
  EXPECT_FALSE(stays("java/lang/StringBuilder", "append", "(Ljava/lang/Object;)Ljava/lang/StringBuilder;"));
  EXPECT_FALSE(stays("java/lang/StringBuilder", "append", "(Ljava/lang/CharSequence;)Ljava/lang/StringBuilder;"));
  EXPECT_FALSE(stays("java/lang/String", "valueOf", "(Ljava/lang/Object;)Ljava/lang/String;"));
  EXPECT_FALSE(stays("java/lang/String", "format", "(Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/String;"));
}

TEST(JdkOnlyCalls, WhatIsExtendedOrLooksForProvidersMayCallTheProgram) {
  EXPECT_FALSE(stays("java/util/ArrayList", "get", "(I)Ljava/lang/Object;"));
  EXPECT_FALSE(stays("java/lang/Object", "hashCode", "()I"));
  EXPECT_FALSE(stays("java/lang/System", "getProperty", "(Ljava/lang/String;)Ljava/lang/String;"));
  EXPECT_FALSE(stays("java/lang/Integer", "getInteger", "(Ljava/lang/String;)Ljava/lang/Integer;"));
  EXPECT_FALSE(stays("java/lang/String", "getBytes", "(Ljava/lang/String;)[B"));
  EXPECT_FALSE(stays("java/lang/String", "<init>", "([BLjava/lang/String;)V"));
  EXPECT_FALSE(stays("a/String", "length", "()I"));
}

TEST(JdkOnlyCalls, ABrokenDescriptorIsNoReasonToTrust) {
  EXPECT_FALSE(stays("java/lang/String", "charAt", "(L"));
  EXPECT_FALSE(stays("java/lang/String", "charAt", ""));
}

}  // namespace
}  // namespace sonde::instrument
