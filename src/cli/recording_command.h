// SPDX-License-Identifier: Apache-2.0
// Commands that read a recording: `sonde report`, `sonde status`. Each takes a finished file or the
// folder of one that is being made, and returns an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "profile/profile.h"
#include "profile/sums.h"

namespace sonde::cli {

enum class SortBy : std::uint8_t { kSelf, kTotal };

struct ReportOptions {
  std::string file;
  std::optional<std::uint32_t> top;  // rows; 0: all. Not given: 20 for tables, all for trees
  bool tree = false;                 // the call tree instead of a table
  profile::Grouping by = profile::Grouping::kMethod;
  std::string focus;                      // pattern: callers and callees of methods instead of a table
  std::optional<profile::Metric> metric;  // not given: times or samples if there are any, else bytecodes
  SortBy sort = SortBy::kSelf;
  std::vector<std::string> include;  // patterns of methods; none: all
  std::vector<std::string> exclude;
  std::string thread;                 // pattern; "": all
  std::optional<double> min_percent;  // of the total. Not given: 1 for trees, 0 for tables
  bool json = false;
};
int report(const ReportOptions& options, const Console& console);

struct StatusOptions {
  std::string file;
  bool json = false;
};
int status(const StatusOptions& options, const Console& console);

}  // namespace sonde::cli
