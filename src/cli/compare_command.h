// SPDX-License-Identifier: Apache-2.0
// Commands that read two recordings: `sonde overlap`. Each takes finished files or live folders and returns an exit
// code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "profile/call_tree.h"

namespace sonde::cli {

struct OverlapOptions {
  std::string a;
  std::string b;
  // Not given: bytecodes if the recording has them, else samples.
  std::optional<profile::Metric> metric_a;
  std::optional<profile::Metric> metric_b;
  std::vector<std::string> include;  // patterns of methods; none: all
  std::vector<std::string> exclude;
  bool by_thread = false;
  bool json = false;
};
int overlap(const OverlapOptions& options, const Console& console);

}  // namespace sonde::cli
