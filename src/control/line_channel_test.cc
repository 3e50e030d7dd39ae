// SPDX-License-Identifier: Apache-2.0
#include "control/line_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace sonde::control {
namespace {

class LineChannelTest : public testing::Test {
 protected:
  LineChannelTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ours_ = LineChannel(ends[0]);
    theirs_ = LineChannel(ends[1]);
  }
  LineChannel ours_{-1};
  LineChannel theirs_{-1};
};

TEST_F(LineChannelTest, GivesLinesInTheirOrder) {
  ASSERT_TRUE(theirs_.send("one\ntwo\nth", 100));
  EXPECT_TRUE(ours_.read_some());
  EXPECT_EQ(ours_.next_line(), "one");
  EXPECT_EQ(ours_.next_line(), "two");
  EXPECT_EQ(ours_.next_line(), std::nullopt);
  ASSERT_TRUE(theirs_.send("ree\n", 100));
  EXPECT_TRUE(ours_.read_some());
  EXPECT_EQ(ours_.next_line(), "three");
}

TEST_F(LineChannelTest, GivesUpAPeerThatSendsNoLineFeed) {
  ASSERT_TRUE(theirs_.send(std::string(3 * kLongestLine, 'x'), 100));
  EXPECT_FALSE(ours_.read_some());
}

TEST_F(LineChannelTest, KnowsThatThePeerHasGone) {
  theirs_ = LineChannel(-1);
  EXPECT_FALSE(ours_.read_some());
  EXPECT_FALSE(ours_.wait_for_line(10).ok());
}

TEST_F(LineChannelTest, AnswersEndWithOkOrAnError) {
  ASSERT_TRUE(theirs_.send("kind cpu on\nok\nerror no%20such%20mode\n", 100));
  const auto first = ask(ours_, "status\n", 100);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->size(), 1U);
  EXPECT_THAT(first->front().words, testing::ElementsAre("cpu", "on"));
  const auto second = ask(ours_, "start x\n", 100);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "no such mode");
}

TEST_F(LineChannelTest, DoesNotWaitForEver) {
  EXPECT_FALSE(ask(ours_, "status\n", 20).ok());
  const std::string much(8 << 20, 'x');
  EXPECT_FALSE(ours_.send(much, 20));
}

}  // namespace
}  // namespace sonde::control
