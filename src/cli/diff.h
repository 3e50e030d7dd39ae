// SPDX-License-Identifier: Apache-2.0
// The parts of `sonde diff`: what two recordings have in common and how it changed, and how that is printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/method_filter.h"
#include "cli/compare_command.h"
#include "cli/console.h"
#include "cli/method_names.h"
#include "profile/diff.h"

namespace sonde::cli {

struct DiffView {
  const DiffOptions& options;
  const profile::Profile& a;
  const profile::Profile& b;
  profile::Comparison comparison;
  MethodFilter filter;
  MethodNames names;
  profile::Side side_a;
  profile::Side side_b;
  profile::Amounts whole_a;
  profile::Amounts whole_b;
  profile::Labels labels;  // texts by label
  profile::DiffTree tree;
  profile::PathOfChange path;

  DiffView(const DiffOptions& diff_options, const profile::Profile& profile_a, const profile::Profile& profile_b,
           profile::Metric metric);

  [[nodiscard]] std::size_t most_rows() const;
  // Outermost first.
  [[nodiscard]] std::vector<std::string> stack_of(std::uint32_t node) const;
  // "java.util.HashMap.put", "com.acme": as reports print it.
  [[nodiscard]] std::string name_of(const profile::DiffRow& row, profile::Grouping grouping) const;
};

// Things that changed, most first. What may be noise is left out, unless all was asked for.
struct ChangedRows {
  std::vector<profile::DiffRow> rows;
  std::size_t left_out = 0;  // for --top
  std::size_t noise = 0;
};
ChangedRows changed_rows(const DiffView& view, profile::Grouping grouping);
struct ChangedContexts {
  std::vector<std::uint32_t> nodes;
  std::size_t left_out = 0;
  std::size_t noise = 0;
};
ChangedContexts changed_contexts(const DiffView& view);

std::string diff_text(const DiffView& view, const Console& console);
std::string diff_json(const DiffView& view);

}  // namespace sonde::cli
