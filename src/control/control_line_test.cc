// SPDX-License-Identifier: Apache-2.0
#include "control/control_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::control {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ControlLine, HasAVerbAndWords) {
  const auto line = parse_line("start cpu cpu=1000000");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->verb, "start");
  EXPECT_THAT(line->words, ElementsAre("cpu", "cpu=1000000"));
}

TEST(ControlLine, MayBeAVerbAlone) {
  const auto line = parse_line("status");
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line->words, IsEmpty());
}

TEST(ControlLine, CarriesAnyTextInAWord) {
  const std::vector<std::string> words = {"/tmp/a folder", "100%", "line\nfeed", "gr\xc3\xbc\xc3\x9f"};
  const std::string text = format_line("record", words);
  ASSERT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto line = parse_line(std::string_view(text).substr(0, text.size() - 1));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->words, words);
}

TEST(ControlLine, RefusesWhatIsNone) {
  for (const char* bad : {"", " ", " start", "start ", "start  cpu", "Start", "start\tcpu", "start cpu\r", "start %",
                          "start %4", "start %GG", "start %00", "start \x7f", "start \xc3\xbc", "st4rt"}) {
    EXPECT_FALSE(parse_line(bad).ok()) << bad;
  }
  EXPECT_FALSE(parse_line(std::string(kLongestLine + 1, 'a')).ok());
  std::string many = "start";
  for (std::size_t i = 0; i <= kMostWords; ++i) many += " a";
  EXPECT_FALSE(parse_line(many).ok());
}

}  // namespace
}  // namespace sonde::control
