// SPDX-License-Identifier: Apache-2.0
// The report of a command that goes through many classes and lists what is wrong with them: as lines, each printed
// when it is found, or as one JSON object at the end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/class_walk.h"
#include "cli/console.h"

namespace sonde::cli {

class ProblemReport {
 public:
  ProblemReport(const Console& console, Progress& progress, bool json)
      : console_(console), progress_(progress), json_(json) {}

  void add(const Problem& problem);
  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] std::string summary() const { return count_ == 1 ? "1 problem" : grouped(count_) + " problems"; }

  // Nothing was read, and the user was told why: a summary would only add zeros.
  [[nodiscard]] bool is_pointless(const WalkTotals& totals) const { return totals.classes == 0 && count_ == 0; }
  // Prints {"classes": ..., <more>, "problems": [...]}. Does nothing unless JSON was asked for.
  void write_json(const WalkTotals& totals, const nlohmann::ordered_json& more);

 private:
  const Console& console_;
  Progress& progress_;
  const bool json_;
  std::uint64_t count_ = 0;
  nlohmann::ordered_json problems_ = nlohmann::ordered_json::array();
};

}  // namespace sonde::cli
