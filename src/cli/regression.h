// SPDX-License-Identifier: Apache-2.0
// Weights that are not negative and explain measured times as sums: least squares of relative errors. For `sonde
// calibrate`, which has some dozens of each.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde::cli {

// What was executed, by kind, and how long it took.
struct Observation {
  std::vector<double> counts;
  double time;
};

// One weight for each kind, drawn a little towards the same weight for all; 0 for kinds that no observation has.
std::vector<double> fit_weights(const std::vector<Observation>& observations);

double predict(const std::vector<double>& weights, const Observation& observation);

struct Fit {
  double r_squared;     // share of the variance of times that is explained; below 0: worse than their mean
  double median_error;  // of |prediction - time| / time
  double largest_error;
};

Fit judge(const std::vector<double>& predictions, const std::vector<Observation>& observations);

// Each observation is predicted by weights that were fitted without it.
std::vector<double> predict_held_out(const std::vector<Observation>& observations);
// The same with one weight for all kinds: what counting alone can tell.
std::vector<double> predict_held_out_by_count(const std::vector<Observation>& observations);

}  // namespace sonde::cli
