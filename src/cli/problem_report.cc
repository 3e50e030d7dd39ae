// SPDX-License-Identifier: Apache-2.0
#include "cli/problem_report.h"

#include <utility>

namespace sonde::cli {

void ProblemReport::add(const Problem& problem) {
  ++count_;
  if (!json_) {
    progress_.clear();
    console_.data(describe(problem.subject, problem.error) + "\n");
    return;
  }
  nlohmann::ordered_json row = {{"class", problem.subject},
                                {"code", name_of(problem.error.code)},
                                {"where", problem.error.where.path},
                                {"message", problem.error.message}};
  if (problem.error.where.byte_offset) row["byte_offset"] = *problem.error.where.byte_offset;
  problems_.push_back(std::move(row));
}

void ProblemReport::write_json(const WalkTotals& totals, const nlohmann::ordered_json& more) {
  if (!json_) return;
  nlohmann::ordered_json report = {{"classes", totals.classes}};
  if (totals.classes != 0) {
    report["oldest_version"] = totals.oldest_version;
    report["newest_version"] = totals.newest_version;
  }
  report["seconds"] = progress_.elapsed().count();
  report.update(more);
  report["problems"] = std::move(problems_);
  // Names in class files need not be valid UTF-8.
  console_.data(report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace sonde::cli
