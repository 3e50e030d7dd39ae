// SPDX-License-Identifier: Apache-2.0
// The parts of `sonde report`: what is shown of which recording, and the three ways to show it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/method_filter.h"
#include "cli/console.h"
#include "cli/method_names.h"
#include "cli/recording_command.h"
#include "profile/sums.h"

namespace sonde::cli {

struct ReportView {
  const ReportOptions& options;
  const profile::Profile& profile;
  MethodFilter filter;
  MethodNames names;
  profile::Metric metric;
  std::vector<profile::Metric> others;  // what else was recorded
  std::vector<const profile::Thread*> threads;
  profile::Amounts whole;  // of these threads

  ReportView(const ReportOptions& report_options, const profile::Profile& recorded);

  // Without them nobody knows what a method called.
  [[nodiscard]] bool has_contexts() const { return !profile.recording.is_flat(); }
  [[nodiscard]] bool accepts(profile::MethodId id) const;
  [[nodiscard]] std::uint64_t whole_value() const { return whole.of(metric); }
  // Of the whole, in percent: at least what is asked for.
  [[nodiscard]] bool is_large_enough(std::uint64_t value) const;
  [[nodiscard]] double least_percent() const { return options.min_percent.value_or(options.tree ? 1.0 : 0.0); }
  // 0: all
  [[nodiscard]] std::size_t most_rows() const;
};

// Hot methods (or classes, packages, …), one per row.
std::string rows_text(const ReportView& view, const Console& console);
void add_rows(const ReportView& view, nlohmann::ordered_json& json);

// The call tree.
std::string tree_text(const ReportView& view, const Console& console);
void add_tree(const ReportView& view, nlohmann::ordered_json& json);

// Callers and callees of the methods that options.focus matches, by method.
std::vector<bool> focused_methods(const ReportView& view);
std::string focus_text(const ReportView& view, const std::vector<bool>& is_focused, const Console& console);
void add_focus(const ReportView& view, const std::vector<bool>& is_focused, nlohmann::ordered_json& json);

}  // namespace sonde::cli
