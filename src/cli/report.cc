// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/glob.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "cli/subgraph_report.h"
#include "cli/table.h"
#include "profile/metric.h"

namespace sonde::cli {

using profile::Metric;

constexpr std::size_t kDefaultTop = 20;
constexpr int kReportVersion = 1;  // docs/reference/report-json.md

namespace {

Metric default_metric(const ReportOptions& options, const profile::Profile& profile) {
  if (options.by == profile::Grouping::kState) return Metric::kWallNs;  // nothing else has states
  return profile::metric_of_work(profile).value_or(Metric::kBytecodes);
}

}  // namespace

ReportView::ReportView(const ReportOptions& report_options, const profile::Profile& recorded)
    : options(report_options),
      profile(recorded),
      filter(report_options.include, report_options.exclude),
      names({&recorded}),
      metric(report_options.metric ? *report_options.metric : default_metric(report_options, recorded)) {
  for (const profile::MetricInfo& info : profile::kMetrics) {
    if (info.metric != metric && profile::has_metric(recorded, info.metric)) others.push_back(info.metric);
  }
  for (const profile::Thread& thread : recorded.threads) {
    if (options.thread.empty() || class_name_matches(options.thread, thread.display_name())) threads.push_back(&thread);
  }
  whole = profile::sum_of(recorded, threads);
}

bool ReportView::accepts(profile::MethodId id) const {
  const profile::Method& method = profile.method(id);
  return filter.accepts(profile.class_of(method).name, method.name);
}

bool ReportView::is_large_enough(std::uint64_t value) const {
  return share_percent(value, whole_value()) >= least_percent();
}

std::size_t ReportView::most_rows() const { return options.top.value_or(options.tree ? 0 : kDefaultTop); }

namespace {

std::string counted(const ReportView& view) {
  std::size_t contexts = 0;
  for (const profile::Thread* thread : view.threads) contexts += thread->end_node - thread->first_node - 1;
  std::string text =
      fmt::format("Counted   {} {}", amount_text(view.metric, view.whole_value()), profile::info_of(view.metric).label);
  for (const Metric other : view.others) {
    text += fmt::format(", {} {}", amount_text(other, view.whole.of(other)), profile::info_of(other).label);
  }
  return text + fmt::format(", {} contexts, {} {}\n", view.has_contexts() ? grouped(contexts) : "no",
                            grouped(view.threads.size()), view.threads.size() == 1 ? "thread" : "threads");
}

void print_json(const ReportView& view, const std::vector<bool>& is_focused, const Console& console) {
  nlohmann::ordered_json json = {{"report_version", kReportVersion}};
  json.update(recording_json(view.profile));
  json["metric"] = profile::name_of(view.metric);
  json["sum"] = amounts_json(view.whole);
  if (view.profile.recording.time_sampling.is_on()) json["time_sampling"] = sampling_json(view.profile);
  if (view.profile.recording.subgraph.is_on()) json["subgraph"] = subgraph_json(view.profile);
  if (view.options.tree) {
    add_tree(view, json);
  } else if (!view.options.focus.empty()) {
    add_focus(view, is_focused, json);
  } else {
    add_rows(view, json);
  }
  console.data(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_text(const ReportView& view, const std::vector<bool>& is_focused, const Console& console) {
  console.data(recording_header(view.profile) + sampling_lines(view.profile) + subgraph_lines(view.profile) +
               counted(view) + "\n");
  if (const std::string roots = roots_text(view.profile, console); !roots.empty()) console.data(roots + "\n");
  if (view.options.tree) {
    console.data(tree_text(view, console));
  } else if (!view.options.focus.empty()) {
    console.data(focus_text(view, is_focused, console));
  } else {
    console.data(rows_text(view, console));
  }
}

int no_such_thread(const ReportView& view, const Console& console) {
  console.say(fmt::format("no thread of {} matches `{}`", view.profile.threads.size(), view.options.thread));
  console.note("       `--by thread --top 0` lists them all; `*` in a pattern stands for any text.\n");
  return kFailed;
}

int no_such_method(const ReportView& view, const Console& console) {
  console.say(fmt::format("no method of {} matches `{}`", view.profile.methods.size() - 1, view.options.focus));
  console.note(
      "       `--by method --top 0` lists them all; a pattern is Class.method, with or without the package.\n");
  return kFailed;
}

bool needs_contexts(const ReportOptions& options) {
  using profile::Grouping;
  return options.tree || !options.focus.empty() || options.by == Grouping::kLine || options.by == Grouping::kCallsite;
}

int no_contexts(const Console& console) {
  console.say("this is a recording of mode exact:flat, which has no contexts: no tree, no callers, no lines of calls");
  console.note(
      "       Leave out --tree, --focus and --by line or callsite, or record with `sonde run --mode exact`.\n");
  return kFailed;
}

bool has_states(const profile::Profile& profile) {
  return std::any_of(profile.threads.begin(), profile.threads.end(),
                     [](const profile::Thread& thread) { return !thread.state.empty(); });
}

int no_states(const Console& console) {
  console.say("this recording has no wall-clock samples, which alone know what threads were doing");
  console.note("       Leave out --by state, or record with `sonde run --mode wall`.\n");
  return kFailed;
}

}  // namespace

int report(const ReportOptions& options, const Console& console) {
  console.doing("reading " + options.file, 1, 2);
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  console.doing("adding up", 2, 2);
  const ReportView view(options, *profile);
  if (view.threads.empty() && !profile->threads.empty()) return no_such_thread(view, console);
  if (!view.has_contexts() && needs_contexts(options)) return no_contexts(console);
  if (options.by == profile::Grouping::kState && !has_states(*profile)) return no_states(console);
  const std::vector<bool> is_focused = focused_methods(view);
  if (!options.focus.empty() && std::find(is_focused.begin(), is_focused.end(), true) == is_focused.end()) {
    return no_such_method(view, console);
  }
  if (options.json) {
    print_json(view, is_focused, console);
  } else {
    print_text(view, is_focused, console);
  }
  return console.flush() ? kOk : kFailed;
}

}  // namespace sonde::cli
