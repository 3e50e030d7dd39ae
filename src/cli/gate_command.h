// SPDX-License-Identifier: Apache-2.0
// The performance gate: `sonde baseline` writes down what a program costs, `sonde check` compares a later recording
// with it. Each returns an exit code.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/console.h"
#include "gate/check.h"

namespace sonde::cli {

struct BaselineOptions {
  std::string file;
  std::string limits;  // a file of limits; "": sonde.toml if there is one
  std::string out;     // "": stdout
  double min_percent = 0.2;
};
int baseline(const BaselineOptions& options, const Console& console);

struct CheckGateOptions {
  std::string file;
  std::string baseline;
  std::string limits;
  std::string markdown;  // files to write; "" for none
  std::string junit;
  bool json = false;
};
// kRegression if a hard limit is broken.
int check_gate(const CheckGateOptions& options, const Console& console);

// The limits to use, or nothing after a message.
std::optional<gate::Limits> open_limits(const std::string& path, const Console& console);

// What a check found, for each kind of reader.
struct CheckReport {
  const CheckGateOptions& options;
  const profile::Profile& profile;
  const gate::Baseline& baseline;
  const gate::Limits& limits;
  const gate::CheckResult& result;
};
std::string check_text(const CheckReport& report, const Console& console);
std::string check_json(const CheckReport& report);
std::string check_markdown(const CheckReport& report);
std::string check_junit(const CheckReport& report);

}  // namespace sonde::cli
