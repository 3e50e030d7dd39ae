// SPDX-License-Identifier: Apache-2.0
#include "cli/regression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::cli {
namespace {

constexpr int kRounds = 20'000;
constexpr double kConverged = 1e-12;
// How much a weight is drawn towards that of all kinds together. Kinds often come together (a load with an addition),
// so their times can be told apart only so far; without it one would get everything and the other nothing.
constexpr double kPull = 0.0001;

// All kinds together as one.
std::vector<Observation> summed(const std::vector<Observation>& observations) {
  std::vector<Observation> result;
  result.reserve(observations.size());
  for (const Observation& o : observations)
    result.push_back({.counts = {std::accumulate(o.counts.begin(), o.counts.end(), 0.0)}, .time = o.time});
  return result;
}

// The one weight for all kinds that has the least relative errors.
double common_weight(const std::vector<Observation>& observations) {
  double counts = 0;
  double squares = 0;
  for (const Observation& o : observations) {
    const double per_time = std::accumulate(o.counts.begin(), o.counts.end(), 0.0) / o.time;
    counts += per_time;
    squares += per_time * per_time;
  }
  return squares == 0 ? 0 : counts / squares;
}

}  // namespace

// Coordinate descent on the normal equations of
//   sum ((counts x weights - time) / time)^2 + kPull x sum ((weight - common weight) / common weight)^2
std::vector<double> fit_weights(const std::vector<Observation>& observations) {
  if (observations.empty()) return {};
  const std::size_t kinds = observations[0].counts.size();
  const double common = common_weight(observations);
  const double pull = common == 0 ? 0 : kPull / (common * common);
  std::vector<double> gram(kinds * kinds, 0.0);
  std::vector<double> target(kinds, 0.0);
  for (const Observation& o : observations) {
    for (std::size_t i = 0; i < kinds; ++i) {
      target[i] += o.counts[i] / o.time;
      for (std::size_t j = 0; j < kinds; ++j) gram[i * kinds + j] += o.counts[i] * o.counts[j] / (o.time * o.time);
    }
  }
  std::vector<double> weights(kinds, 0.0);
  for (int round = 0; round < kRounds; ++round) {
    double change = 0;
    for (std::size_t i = 0; i < kinds; ++i) {
      const double own = gram[i * kinds + i];
      if (own == 0) continue;
      double rest = target[i];
      for (std::size_t j = 0; j < kinds; ++j) rest -= j == i ? 0 : gram[i * kinds + j] * weights[j];
      const double next = std::max(0.0, (rest + pull * common) / (own + pull));
      change = std::max(change, std::abs(next - weights[i]));
      weights[i] = next;
    }
    if (change < kConverged) break;
  }
  return weights;
}

double predict(const std::vector<double>& weights, const Observation& observation) {
  return std::inner_product(weights.begin(), weights.end(), observation.counts.begin(), 0.0);
}

Fit judge(const std::vector<double>& predictions, const std::vector<Observation>& observations) {
  double mean = 0;
  for (const Observation& o : observations) mean += o.time / static_cast<double>(observations.size());
  double unexplained = 0;
  double all = 0;
  std::vector<double> errors;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const double time = observations[i].time;
    unexplained += (predictions[i] - time) * (predictions[i] - time);
    all += (time - mean) * (time - mean);
    errors.push_back(std::abs(predictions[i] - time) / time);
  }
  std::ranges::sort(errors);
  if (errors.empty()) return {.r_squared = 0, .median_error = 0, .largest_error = 0};
  return {.r_squared = all == 0 ? 0 : 1 - unexplained / all,
          .median_error = errors[errors.size() / 2],
          .largest_error = errors.back()};
}

std::vector<double> predict_held_out(const std::vector<Observation>& observations) {
  std::vector<double> predictions;
  for (std::size_t held_out = 0; held_out < observations.size(); ++held_out) {
    std::vector<Observation> others = observations;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(held_out));
    predictions.push_back(predict(fit_weights(others), observations[held_out]));
  }
  return predictions;
}

std::vector<double> predict_held_out_by_count(const std::vector<Observation>& observations) {
  return predict_held_out(summed(observations));
}

}  // namespace sonde::cli
