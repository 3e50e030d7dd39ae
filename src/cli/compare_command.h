// SPDX-License-Identifier: Apache-2.0
// Commands that read two recordings: `sonde overlap`. Each takes finished files or live folders and returns an exit
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "profile/call_tree.h"

namespace sonde::cli {

struct OverlapOptions {
  std::string a;
  std::string b;
  // Not given: times or samples if the recording has them, else bytecodes.
  std::optional<profile::Metric> metric_a;
  std::optional<profile::Metric> metric_b;
  std::vector<std::string> include;  // patterns of methods; none: all
  std::vector<std::string> exclude;
  bool by_thread = false;
  bool json = false;
};
int overlap(const OverlapOptions& options, const Console& console);

enum class DiffBy : std::uint8_t { kContext, kMethod, kClass, kPackage };

struct DiffOptions {
  std::string a;
  std::string b;
  std::optional<DiffBy> by;               // not given: methods and contexts
  std::optional<profile::Metric> metric;  // not given: as for `sonde report`, of what both have
  bool is_normalised = false;             // shares of the recordings instead of amounts
  std::optional<std::uint32_t> top;       // rows; 0: all. Not given: 10
  bool all = false;                       // also what may be noise
  std::vector<std::string> include;       // patterns of methods; none: all
  std::vector<std::string> exclude;
  std::string thread;  // pattern; "": all
  bool json = false;
};
int diff(const DiffOptions& options, const Console& console);

}  // namespace sonde::cli
