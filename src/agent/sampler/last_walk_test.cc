// SPDX-License-Identifier: Apache-2.0
// Walks over a stack that is a list of numbers: a frame's program counter, outermost first. What a walk takes over from
// the one before is put in from the sample before, as the decoding thread does.
#include "agent/sampler/last_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sonde::agent {
namespace {

using Stack = std::vector<std::uint64_t>;
constexpr std::uint64_t kBase = 1 << 20;

// What the walker does.
class Walker {
 public:
  Walker() { last_.map(); }

  // Frames with pc 0 are not compiled.
  Stack walk(const Stack& stack) {
    before_.swap(found_);
    found_.clear();
    looked_at_ = 0;
    last_.begin();
    for (std::size_t i = stack.size(); i-- > 0;) {
      if (i + 1 < stack.size()) i = reuse(stack, i);
      if (stack[i] == 0) {
        last_.interrupt();
      } else {
        last_.add({.sp = sp(i),
                   .pc = stack[i],
                   .nmethod = 1,
                   .compile_id = 1,
                   .place = static_cast<std::uint32_t>(found_.size())});
      }
      ++looked_at_;
      found_.push_back(stack[i]);
      if (i % 7 == 0) found_.push_back(kMark);
    }
    last_.finish();
    Stack result(found_.rbegin(), found_.rend());
    std::erase(result, kMark);
    return result;
  }
  // Frames that were not known.
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }

 private:
  static std::uint64_t sp(std::size_t index) { return kBase - index * 64; }

  std::size_t reuse(const Stack& stack, std::size_t at) {
    const std::uint32_t known = last_.known_at(stack[at], sp(at));
    if (known == 0) return at;
    for (std::uint32_t i = known - 1; i > 0; --i) {
      if (stack[(kBase - last_.frame(i - 1).sp) / 64] == last_.frame(i - 1).pc) continue;
      last_.differs_at(i - 1);
      return at;
    }
    const std::size_t outermost = (kBase - last_.frame(0).sp) / 64;
    const auto first = before_.begin() + last_.place_of(known - 1);
    const auto place = static_cast<std::uint32_t>(found_.size());
    found_.insert(found_.end(), first, first + last_.frame(known - 1).place);
    last_.reuse(known, place);
    return outermost;
  }

  static constexpr std::uint64_t kMark = ~std::uint64_t{0};  // entries of samples that are no frames

  LastWalk last_;
  Stack found_;  // innermost first
  Stack before_;
  std::size_t looked_at_ = 0;
};

Stack deep(std::size_t frames) {
  Stack stack{0, 0};
  for (std::size_t i = 0; i < frames; ++i) stack.push_back(1000 + i);
  return stack;
}

TEST(LastWalk, FramesThatStayAreNotLookedForAgain) {
  Walker walker;
  const Stack stack = deep(200);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_EQ(walker.looked_at(), stack.size());
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_LT(walker.looked_at(), 10U);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_LT(walker.looked_at(), 10U);
}

TEST(LastWalk, FollowsCallsAndReturns) {
  Walker walker;
  Stack stack = deep(100);
  walker.walk(stack);
  stack.resize(70);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_LT(walker.looked_at(), 10U);
  for (std::uint64_t pc = 0; pc < 60; ++pc) stack.push_back(5000 + pc);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_LT(walker.looked_at(), 10U);
}

TEST(LastWalk, OtherCallersAtTheSamePlacesAreNoticed) {
  Walker walker;
  for (const std::size_t changed : {3, 50, 90, 101}) {
    Stack stack = deep(100);
    walker.walk(stack);
    stack[changed] = 77;
    EXPECT_EQ(walker.walk(stack), stack) << changed;
    stack[changed] = 0;
    EXPECT_EQ(walker.walk(stack), stack) << changed;
  }
}

TEST(LastWalk, AnyStackIsTheOneThatWasWalked) {
  Walker walker;
  std::uint64_t seed = 1;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (seed >> 33) % below;
  };
  Stack stack = deep(50);
  for (int i = 0; i < 20'000; ++i) {
    stack.resize(std::max<std::size_t>(2, stack.size() - random(stack.size() / (random(20) == 0 ? 1 : 5) + 1)));
    for (std::uint64_t more = random(40); more-- > 0 && stack.size() < 400;) {
      stack.push_back(random(30) == 0 ? 0 : 1 + random(3));
    }
    if (random(10) == 0) stack[random(stack.size())] = random(3);
    ASSERT_EQ(walker.walk(stack), stack) << i;
  }
}

// More frames than are kept.
TEST(LastWalk, VeryDeepStacks) {
  Walker walker;
  Stack stack = deep(5000);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_EQ(walker.walk(stack), stack);
  for (std::uint64_t pc = 0; pc < 3000; ++pc) stack.push_back(1 + pc);
  EXPECT_EQ(walker.walk(stack), stack);
  EXPECT_EQ(walker.walk(stack), stack);
}

}  // namespace
}  // namespace sonde::agent
