// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/recording_file.h"
#include "cli/report.h"
#include "cli/sampling_report.h"
#include "cli/subgraph_report.h"
#include "cli/table.h"
#include "profile/metric.h"
#include "profile/places.h"

namespace sonde::cli {
namespace {

using profile::Grouping;
using profile::MethodId;
using profile::Metric;
using profile::SumRow;

std::string_view name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::kMethod: return "method";
    case Grouping::kClass: return "class";
    case Grouping::kPackage: return "package";
    case Grouping::kThread: return "thread";
    case Grouping::kLine: return "line";
    case Grouping::kCallsite: return "callsite";
    case Grouping::kState: return "state";
  }
  return "";
}

struct ShownRows {
  std::vector<SumRow> rows;
  std::size_t left_out = 0;  // for --top
};

std::uint64_t sort_value(const ReportView& view, const profile::Sum& sum) {
  return (view.options.sort == SortBy::kSelf ? sum.self : sum.total).of(view.metric);
}

void filter_rows(const ReportView& view, std::vector<SumRow>& rows) {
  if (view.filter.accepts_everything()) return;
  switch (view.options.by) {
    case Grouping::kState:
    case Grouping::kThread: return;  // has no method, so no pattern speaks of it
    case Grouping::kClass:
    case Grouping::kPackage: {  // stay if one of their methods is accepted
      const auto accepted = profile::accepted_names(view.profile, view.filter, view.options.by);
      std::erase_if(rows, [&](const SumRow& row) { return !accepted.contains(row.name); });
      return;
    }
    default: std::erase_if(rows, [&](const SumRow& row) { return !view.accepts(row.method); });
  }
}

// A method that is slow has few visits that are long, one that is called often has many (papers/002).
bool has_visits(const ReportView& view) {
  const bool has_methods = view.options.by == Grouping::kMethod || view.options.by == Grouping::kCallsite;
  const profile::Recording& recording = view.profile.recording;
  const bool is_by_bytecodes = view.metric == profile::Metric::kSamples && recording.sampling.is_on();
  return profile::info_of(view.metric).is_sampled && recording.time_sampling.is_on() && has_methods && !is_by_bytecodes;
}

bool is_place(const ReportView& view) {
  return view.options.by == Grouping::kLine || view.options.by == Grouping::kCallsite;
}

// The order of rows that are equally large.
std::pair<std::string, std::string> tie_break(const ReportView& view, const SumRow& row) {
  return {is_place(view) ? place_name(view.profile, row) : row.name, view.profile.full_name(row.method)};
}

ShownRows shown_rows(const ReportView& view) {
  ShownRows shown{.rows = profile::sums_by(view.profile, view.threads, view.options.by)};
  std::vector<SumRow>& rows = shown.rows;
  filter_rows(view, rows);
  std::erase_if(rows, [&](const SumRow& row) { return !view.is_large_enough(sort_value(view, row.sum)); });
  const auto key = [&](const SumRow& row) {
    return std::pair(sort_value(view, row.sum), row.sum.total.of(view.metric));
  };
  const auto is_before = [&](const SumRow& a, const SumRow& b) {
    if (key(a) != key(b)) return key(a) > key(b);
    return tie_break(view, a) < tie_break(view, b);
  };
  const std::size_t top = view.most_rows();
  shown.left_out = top != 0 && rows.size() > top ? rows.size() - top : 0;
  std::partial_sort(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(shown.left_out), rows.end(), is_before);
  rows.resize(rows.size() - shown.left_out);
  for (SumRow& row : rows) {
    if (view.options.by == Grouping::kMethod) row.name = view.names(view.profile, row.method);
    if (is_place(view)) row.name = place_name(view.profile, row);
    if (view.options.by == Grouping::kCallsite) row.name += " -> " + view.names(view.profile, row.method);
  }
  return shown;
}

nlohmann::ordered_json json_of_method(const profile::Profile& profile, MethodId id) {
  const profile::Method& method = profile.method(id);
  return {{"class", profile.class_of(method).name}, {"method", method.name}, {"descriptor", method.descriptor}};
}

nlohmann::ordered_json json_of(const ReportView& view, const SumRow& row) {
  nlohmann::ordered_json json = {{"name", row.name}};
  switch (view.options.by) {
    case Grouping::kMethod: json.update(json_of_method(view.profile, row.method)); break;
    case Grouping::kLine: json["line"] = row.line; break;
    case Grouping::kCallsite:
      json["caller"] = json_of_method(view.profile, row.caller);
      json["line"] = row.line;
      json["callee"] = json_of_method(view.profile, row.method);
      break;
    default: break;
  }
  json["self"] = amounts_json(row.sum.self);
  const bool has_totals = view.has_contexts();  // without, nobody knows what a method called
  if (has_totals) json["total"] = amounts_json(row.sum.total);
  json["self_percent"] = share_percent(row.sum.self.of(view.metric), view.whole_value());
  if (has_totals) json["total_percent"] = share_percent(row.sum.total.of(view.metric), view.whole_value());
  if (profile::is_sampled(view.profile, view.metric)) {
    const auto interval = [&](std::uint64_t part) {
      const profile::Interval i = confidence_of(view.profile, view.metric, part, view.whole_value());
      return nlohmann::ordered_json{{"low", 100 * i.low}, {"high", 100 * i.high}};
    };
    json["self_percent_95"] = interval(row.sum.self.of(view.metric));
    json["total_percent_95"] = interval(row.sum.total.of(view.metric));
    if (has_visits(view)) json["visits"] = row.sum.visits;
  }
  return json;
}

// By method, where each row is one; none unless times were measured and corrected.
std::vector<Correction> shown_corrections(const ReportView& view) {
  const profile::Subgraph& s = view.profile.recording.subgraph;
  const bool is_time = view.metric == (s.time == "cpu" ? Metric::kCpuNs : Metric::kWallNs);
  const bool is_corrected = s.is_on() && s.time != "off" && s.scheme != "region";
  if (!is_corrected || !is_time || view.options.by != Grouping::kMethod) return {};
  return corrections_of(view.profile);
}

}  // namespace

std::string rows_text(const ReportView& view, const Console& console) {
  const ShownRows shown = shown_rows(view);
  const std::string metric(profile::info_of(view.metric).label);
  std::vector<Cell> header = {"self"};
  if (profile::is_sampled(view.profile, view.metric)) header.emplace_back("99 % sure");
  header.emplace_back(metric);
  if (view.has_contexts()) header.insert(header.end(), {"total", metric});
  for (const Metric other : view.others) header.emplace_back(std::string(profile::info_of(other).label));
  if (has_visits(view)) header.insert(header.end(), {"visits", "per visit"});
  const std::vector<Correction> corrections = shown_corrections(view);
  if (!corrections.empty()) header.emplace_back("corrected by");
  header.emplace_back(std::string(name_of(view.options.by)));
  Table table(std::move(header));
  for (const SumRow& row : shown.rows) {
    const std::uint64_t self = row.sum.self.of(view.metric);
    const std::uint64_t total = row.sum.total.of(view.metric);
    std::vector<Cell> cells = {percent(self, view.whole_value())};
    if (profile::is_sampled(view.profile, view.metric))
      cells.emplace_back(confidence_text(confidence_of(view.profile, view.metric, self, view.whole_value())));
    cells.emplace_back(amount_text(view.metric, self));
    if (view.has_contexts())
      cells.insert(cells.end(), {percent(total, view.whole_value()), amount_text(view.metric, total)});
    for (const Metric other : view.others) cells.emplace_back(amount_text(other, row.sum.self.of(other)));
    if (has_visits(view)) {
      const std::uint64_t visits = row.sum.visits;
      cells.insert(cells.end(), {grouped(visits), visits == 0 ? "" : amount_text(view.metric, total / visits)});
    }
    if (!corrections.empty()) cells.emplace_back(correction_text(corrections[row.method.value()], self));
    cells.emplace_back(row.name);
    table.add(std::move(cells));
  }
  if (table.is_empty()) return "nothing matches\n";
  std::string text = table.text(console);
  if (shown.left_out != 0) text += fmt::format("... and {} more: --top 0 shows all\n", grouped(shown.left_out));
  return text;
}

void add_rows(const ReportView& view, nlohmann::ordered_json& json) {
  const ShownRows shown = shown_rows(view);
  json["by"] = name_of(view.options.by);
  json["sort"] = view.options.sort == SortBy::kSelf ? "self" : "total";
  json["rows"] = nlohmann::ordered_json::array();
  const std::vector<Correction> corrections = shown_corrections(view);
  for (const SumRow& row : shown.rows) {
    json["rows"].push_back(json_of(view, row));
    if (corrections.empty()) continue;
    const Correction& correction = corrections[row.method.value()];
    json["rows"].back()["corrected_ns"] = correction.ns;
    json["rows"].back()["corrected_error_ns"] = correction.error_ns;
    json["rows"].back()["distorted"] = is_distorted(correction, row.sum.self.of(view.metric));
  }
  json["rows_left_out"] = shown.left_out;
}

}  // namespace sonde::cli
