// SPDX-License-Identifier: Apache-2.0
#include "cli/intrinsics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_literals;

TEST(Intrinsics, AreTheNamesOfTheJvmsTable) {
  EXPECT_THAT(intrinsics_in("other\0_hashCode\0_getClass\0_dabs\0no name\0_later"s),
              ElementsAre("_hashCode", "_getClass", "_dabs"));
}

TEST(Intrinsics, MayFollowAnything) {
  EXPECT_THAT(intrinsics_in("\x8a\x62\xed\xff_hashCode\0_getClass\0_dabs\0\0"s),
              ElementsAre("_hashCode", "_getClass", "_dabs"));
}

TEST(Intrinsics, MayBeTheLastThingInAFile) {
  EXPECT_THAT(intrinsics_in("_hashCode\0_getClass\0_dabs"s), ElementsAre("_hashCode", "_getClass", "_dabs"));
}

TEST(Intrinsics, ThereAreNoneWithoutTheTable) {
  EXPECT_THAT(intrinsics_in(""), IsEmpty());
  EXPECT_THAT(intrinsics_in("_hashCode\0_clone\0"s), IsEmpty());
}

}  // namespace
}  // namespace sonde::cli
