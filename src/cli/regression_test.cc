// SPDX-License-Identifier: Apache-2.0
#include "cli/regression.h"

#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

const std::vector<Observation> kMade = {{.counts = {1, 0}, .time = 2},
                                        {.counts = {1, 1}, .time = 5},
                                        {.counts = {3, 1}, .time = 9},
                                        {.counts = {2, 5}, .time = 19}};

TEST(Regression, FindsTheWeightsThatTimesWereMadeOf) {
  const std::vector<double> weights = fit_weights(kMade);
  EXPECT_NEAR(weights[0], 2, 1e-3);
  EXPECT_NEAR(weights[1], 3, 1e-3);
  std::vector<double> predictions;
  predictions.reserve(kMade.size());
  for (const Observation& o : kMade) predictions.push_back(predict(weights, o));
  EXPECT_NEAR(judge(predictions, kMade).r_squared, 1, 1e-5);
  EXPECT_NEAR(judge(predictions, kMade).largest_error, 0, 1e-3);
}

TEST(Regression, NeverFindsANegativeWeight) {
  const std::vector<Observation> odd = {{.counts = {2, 0}, .time = 4}, {.counts = {2, 1}, .time = 3}};
  const std::vector<double> weights = fit_weights(odd);
  EXPECT_GT(weights[0], 0);
  EXPECT_EQ(weights[1], 0);
}

TEST(Regression, AKindThatWasNeverExecutedHasNoWeight) {
  EXPECT_EQ(fit_weights({{.counts = {1, 0}, .time = 2}, {.counts = {2, 0}, .time = 4}})[1], 0);
}

TEST(Regression, HeldOutObservationsAreNotKnown) {
  std::vector<Observation> observations = kMade;
  observations.push_back({.counts = {1, 1}, .time = 50});  // does not fit the others
  const std::vector<double> predictions = predict_held_out(observations);
  EXPECT_NEAR(predictions.back(), 5, 0.1);
  EXPECT_GT(judge(predictions, observations).largest_error, 0.5);
}

TEST(Regression, ByCountAllKindsAreTheSame) {
  const std::vector<Observation> same = {
      {.counts = {1, 1}, .time = 4}, {.counts = {0, 3}, .time = 6}, {.counts = {5, 0}, .time = 10}};
  const std::vector<double> predictions = predict_held_out_by_count(same);
  for (std::size_t i = 0; i < same.size(); ++i) EXPECT_NEAR(predictions[i], same[i].time, 1e-3);
}

}  // namespace
}  // namespace sonde::cli
