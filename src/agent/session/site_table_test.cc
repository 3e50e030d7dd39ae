// SPDX-License-Identifier: Apache-2.0
#include "agent/session/site_table.h"

#include <gtest/gtest.h>

#include <array>

namespace sonde::agent {
namespace {

constexpr std::array<std::uint32_t, 3> kNoNatives = {0, 0, 0};
const std::string kRead = "jdk/internal/jimage/ImageReader.read()V";

class SiteTableTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(sites_.create().ok()); }
  std::uint32_t add(std::uint32_t method_id, std::uint32_t code_length, std::vector<std::uint32_t> pcs) {
    const std::uint32_t first = sites_.add_sites(method_id, false, kNoNatives).value();
    sites_.name_last(kRead, code_length, std::move(pcs));
    return first;
  }
  SiteTable sites_;
};

TEST_F(SiteTableTest, ClassesOfOneNameAreToldApartByTheLengthOfTheirCode) {
  const std::uint32_t of_jdk = add(2, 90, {7, 40});
  const std::uint32_t of_jar = add(3, 92, {9, 42});
  EXPECT_EQ(sites_.find(kRead, 90)->first, of_jdk);
  EXPECT_EQ(sites_.find(kRead, 90)->pcs, (std::vector<std::uint32_t>{7, 40}));
  EXPECT_EQ(sites_.find(kRead, 92)->first, of_jar);
}

TEST_F(SiteTableTest, AMethodThatBeganBeforeItWasInstrumentedIsTheLastOne) {
  add(2, 90, {7, 40});
  const std::uint32_t last = add(2, 92, {9, 42});
  EXPECT_EQ(sites_.find(kRead, 30)->first, last);
  EXPECT_FALSE(sites_.find("a/B.c()V", 30));
}

TEST_F(SiteTableTest, AClassThatIsLoadedAgainTakesThePlaceOfTheFirst) {
  const std::uint32_t first = add(2, 90, {7, 40});
  const std::uint32_t again = add(2, 90, {7, 40});
  EXPECT_EQ(sites_.find(kRead, 90)->first, again);
  EXPECT_TRUE(sites_.are_same(first + 1, again + 1));
  EXPECT_FALSE(sites_.are_same(first + 1, again + 2));
}

}  // namespace
}  // namespace sonde::agent
