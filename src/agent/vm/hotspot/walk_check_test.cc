// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/walk_check.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#ifndef NDEBUG

namespace sonde::agent::hotspot {
namespace {

class WalkCheckTest : public testing::Test {
 protected:
  // What a walk finds from now on.
  void put_stack(const std::vector<std::uint64_t>& pcs, WalkError error = WalkError::kNone) {
    pcs_ = pcs;
    error_ = error;
  }
  auto walk() {
    return [this](RawSample& sample) noexcept {
      for (const std::uint64_t pc : pcs_) sample.frames()[sample.depth++] = RawFrame::make(FrameKind::kCompiled, pc, 1);
      return error_;
    };
  }
  // As if the walk had taken over all frames.
  void take_over(WalkError error = WalkError::kNone) {
    sample().same_count = static_cast<std::uint16_t>(pcs_.size());
    sample().error = error;
  }
  RawSample& sample() { return *reinterpret_cast<RawSample*>(memory_.data()); }
  [[nodiscard]] std::uint64_t sum_of_stack() const {
    std::vector<RawFrame> frames;
    for (const std::uint64_t pc : pcs_) frames.push_back(RawFrame::make(FrameKind::kCompiled, pc, 1));
    return check_sum(frames);
  }

 private:
  std::vector<std::uint64_t> pcs_;
  WalkError error_ = WalkError::kNone;
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(kMaxSampleSize / 8);
};

TEST_F(WalkCheckTest, AStackThatStaysIsCompared) {
  put_stack({1, 2, 3});
  WalkCheck check(walk(), sample());
  EXPECT_EQ(sample().depth, 0) << "the sample is still empty";
  take_over();
  check.finish(sample());
  EXPECT_EQ(sample().check, sum_of_stack());
}

TEST_F(WalkCheckTest, AStackThatChangesMeanwhileIsNot) {
  put_stack({1, 2, 3});
  WalkCheck check(walk(), sample());
  take_over();
  put_stack({1, 2, 4});
  check.finish(sample());
  EXPECT_EQ(sample().check, 0u);
}

TEST_F(WalkCheckTest, AStackWithoutFramesOfTheOneBeforeNeedsNoComparison) {
  put_stack({1, 2, 3});
  WalkCheck check(walk(), sample());
  check.finish(sample());
  EXPECT_EQ(sample().check, 0u);
}

TEST_F(WalkCheckTest, AnErrorThatOnlyOneOfThemHasEndsTheProcess) {
  put_stack({1, 2, 3}, WalkError::kUnwalkable);
  WalkCheck check(walk(), sample());
  take_over(WalkError::kNone);
  EXPECT_DEATH(check.finish(sample()), "");
}

TEST_F(WalkCheckTest, AWalkThatACollectionDisturbedIsNotCompared) {
  put_stack({1, 2, 3});
  WalkCheck check(walk(), sample());
  take_over(WalkError::kFrozen);
  check.finish(sample());
  EXPECT_EQ(sample().check, 0u);

  put_stack({1, 2, 3}, WalkError::kFrozen);
  sample().same_count = 0;
  sample().error = WalkError::kNone;
  WalkCheck other(walk(), sample());
  take_over(WalkError::kNone);
  other.finish(sample());
  EXPECT_EQ(sample().check, 0u);
}

}  // namespace
}  // namespace sonde::agent::hotspot

#endif
