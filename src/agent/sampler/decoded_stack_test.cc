// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/decoded_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace sonde::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Numbers = std::vector<std::uint64_t>;

// An entry N stands for N % 3 frames, all of method N.
class Decoder final : public StackDecoder {
 public:
  void decode(const RawSample&, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
              std::vector<std::uint16_t>& counts) override {
    decoded_ += entries.size();
    for (const RawFrame& entry : entries) {
      const std::vector<std::uint32_t> ids = methods({entry.what});
      for (const std::uint32_t id : ids) frames.push_back({.method_id = id, .line = 0, .bci = 0});
      counts.push_back(static_cast<std::uint16_t>(ids.size()));
    }
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return 0; }

  static std::vector<std::uint32_t> methods(const Numbers& entries) {
    std::vector<std::uint32_t> result;
    for (const std::uint64_t entry : entries) result.insert(result.end(), entry % 3, static_cast<std::uint32_t>(entry));
    return result;
  }
  // Entries since the last time.
  std::size_t decoded() { return std::exchange(decoded_, 0); }

 private:
  std::size_t decoded_ = 0;
};

struct Same {
  std::uint16_t at;
  std::uint16_t first;
  std::uint16_t count;
};

class DecodedStackTest : public ::testing::Test {
 protected:
  // Innermost first.
  bool update(std::uint64_t number, const Numbers& own, Same same = {}, FrameKind kind = FrameKind::kCompiled) {
    memory_.assign(sizeof(RawSample) / 8 + 2 * own.size(), 0);
    auto* sample = reinterpret_cast<RawSample*>(memory_.data());
    sample->number = number;
    sample->depth = static_cast<std::uint16_t>(own.size());
    sample->same_at = same.at;
    sample->same_first = same.first;
    sample->same_count = same.count;
    for (std::size_t i = 0; i < own.size(); ++i) sample->frames()[i] = RawFrame::make(kind, own[i], 1);
    return stack_.update(*sample, decoder_);
  }
  [[nodiscard]] Numbers entries() const {
    Numbers result;
    for (const RawFrame& entry : stack_.entries()) result.push_back(entry.what);
    return result;
  }
  void expect_decoded(const Numbers& entries) {
    std::vector<std::uint32_t> ids;
    for (const StackFrame& frame : stack_.frames()) ids.push_back(frame.method_id);
    EXPECT_EQ(ids, Decoder::methods(entries));
    EXPECT_EQ(stack_.counts().size(), entries.size());
  }

  std::vector<std::uint64_t> memory_;
  Decoder decoder_;
  DecodedStack stack_;
};

TEST_F(DecodedStackTest, PutsInWhatTheSampleBeforeHad) {
  EXPECT_TRUE(update(1, {10, 11, 12, 13, 14}));
  EXPECT_EQ(decoder_.decoded(), 5U);
  EXPECT_TRUE(update(2, {20, 21, 14}, {.at = 2, .first = 1, .count = 3}));
  EXPECT_THAT(entries(), ElementsAre(20, 21, 11, 12, 13, 14));
  expect_decoded({20, 21, 11, 12, 13, 14});
  EXPECT_EQ(decoder_.decoded(), 2U);
}

TEST_F(DecodedStackTest, ReferencesMayFollowEachOther) {
  update(1, {10, 11, 12, 13, 14});
  update(2, {20, 14}, {.at = 1, .first = 2, .count = 2});  // 20 12 13 14
  EXPECT_TRUE(update(3, {30, 31, 40}, {.at = 2, .first = 1, .count = 2}));
  EXPECT_THAT(entries(), ElementsAre(30, 31, 12, 13, 40));
  expect_decoded({30, 31, 12, 13, 40});
}

TEST_F(DecodedStackTest, SaysThatASampleIsMissing) {
  update(1, {10, 11, 12, 13});
  EXPECT_FALSE(update(3, {20, 13}, {.at = 1, .first = 1, .count = 2}));
  EXPECT_THAT(entries(), ElementsAre(20));
  // The next one refers to frames that are not there.
  EXPECT_FALSE(update(4, {30, 13}, {.at = 1, .first = 0, .count = 1}));
  EXPECT_TRUE(update(5, {40, 12, 13}));
  EXPECT_THAT(entries(), ElementsAre(40, 12, 13));
  expect_decoded({40, 12, 13});
  EXPECT_TRUE(update(6, {50, 13}, {.at = 1, .first = 1, .count = 1}));
  EXPECT_THAT(entries(), ElementsAre(50, 12, 13));
}

TEST_F(DecodedStackTest, SaysThatAReferenceLeadsNowhere) {
  update(1, {10, 11, 12});
  EXPECT_FALSE(update(2, {20}, {.at = 1, .first = 2, .count = 2}));
}

TEST_F(DecodedStackTest, FirstSampleOfAThreadHasNoneBefore) {
  EXPECT_FALSE(update(1, {10}, {.at = 1, .first = 0, .count = 1}));
  stack_ = {};
  EXPECT_TRUE(update(7, {}));
  EXPECT_THAT(entries(), IsEmpty());
  EXPECT_TRUE(update(8, {10}));
}

TEST_F(DecodedStackTest, InnermostEntryIsDecodedEachTime) {
  update(1, {10});
  update(2, {10});
  EXPECT_EQ(decoder_.decoded(), 2U);
  update(3, {11, 10});
  update(4, {10});
  EXPECT_EQ(decoder_.decoded(), 3U);
  expect_decoded({10});
}

TEST_F(DecodedStackTest, AMethodThatMayBeAnotherNowIsDecodedEachTime) {
  update(1, {10, 11, 12}, {}, FrameKind::kInterpreted);
  update(2, {10, 11, 12}, {}, FrameKind::kInterpreted);
  EXPECT_EQ(decoder_.decoded(), 6U);
}

TEST_F(DecodedStackTest, AnyStackIsTheOneThatWasWritten) {
  std::uint64_t seed = 1;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (seed >> 33) % below;
  };
  Numbers before;
  for (std::uint64_t number = 1; number < 20'000; ++number) {
    Numbers own(random(12));
    for (std::uint64_t& entry : own) entry = random(6);
    Same same{.at = static_cast<std::uint16_t>(random(own.size() + 1)), .first = 0, .count = 0};
    if (!before.empty()) {
      same.first = static_cast<std::uint16_t>(random(before.size()));
      same.count = static_cast<std::uint16_t>(random(std::min<std::uint64_t>(before.size() - same.first, 30) + 1));
    }
    Numbers whole(own.begin(), own.begin() + same.at);
    whole.insert(whole.end(), before.begin() + same.first, before.begin() + same.first + same.count);
    whole.insert(whole.end(), own.begin() + same.at, own.end());
    ASSERT_TRUE(update(number, own, same));
    ASSERT_EQ(entries(), whole) << number;
    expect_decoded(whole);
    before = whole;
  }
}

TEST(CheckSum, DoesNotDependOnWhatOtherThreadsNoted) {
  const auto sum = [](FrameKind kind, std::uint64_t what, std::uint64_t bcp) {
    const RawFrame frames[] = {RawFrame::make(kind, what, bcp), RawFrame::make(FrameKind::kCompiled, 10, 1)};
    return check_sum(frames);
  };
  EXPECT_EQ(sum(FrameKind::kLogged, 24, 7), sum(FrameKind::kInterpreted, 4096, 7));
  EXPECT_NE(sum(FrameKind::kLogged, 24, 7), sum(FrameKind::kLogged, 24, 8));
  EXPECT_NE(sum(FrameKind::kCompiled, 24, 7), sum(FrameKind::kCompiled, 25, 7));
  EXPECT_NE(sum(FrameKind::kCompiled, 24, 7), sum(FrameKind::kLogged, 24, 7));
}

}  // namespace
}  // namespace sonde::agent
