// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/method_filter.h"
#include "cli/recording_file.h"
#include "cli/report.h"
#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/focus.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using profile::Focus;
using profile::MethodId;
using profile::Neighbour;

constexpr std::size_t kMostNames = 5;

std::string name_of(const ReportView& view, MethodId id) {
  return id == profile::kRootMethod ? "(thread)" : view.names(view.profile, id);
}

struct ShownNeighbours {
  std::vector<Neighbour> rows;  // greatest total first
  std::size_t left_out = 0;
};

ShownNeighbours shown(const ReportView& view, std::vector<Neighbour> neighbours) {
  std::erase_if(neighbours, [&](const Neighbour& n) {
    return !view.accepts(n.method) || !view.is_large_enough(n.total.of(view.metric));
  });
  std::sort(neighbours.begin(), neighbours.end(), [&](const Neighbour& a, const Neighbour& b) {
    const auto key = [&](const Neighbour& n) { return std::pair(n.total.of(view.metric), n.calls); };
    return key(a) != key(b) ? key(a) > key(b) : view.profile.full_name(a.method) < view.profile.full_name(b.method);
  });
  const std::size_t top = view.most_rows();
  const std::size_t left_out = top != 0 && neighbours.size() > top ? neighbours.size() - top : 0;
  neighbours.resize(neighbours.size() - left_out);
  return {.rows = std::move(neighbours), .left_out = left_out};
}

std::vector<std::string> focused_names(const ReportView& view, const std::vector<bool>& is_focused) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < is_focused.size(); ++i) {
    if (is_focused[i]) names.push_back(name_of(view, MethodId(i)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string table_of(const ReportView& view, const std::vector<bool>& is_focused, const ShownNeighbours& neighbours,
                     std::uint64_t whole, const char* title, const Console& console) {
  const bool has_calls = profile::has_metric(view.profile, profile::Metric::kCalls);
  const auto row_of = [&](Cell share, Cell amount, Cell calls, Cell name) {
    std::vector<Cell> cells = {std::move(share), std::move(amount)};
    if (has_calls) cells.push_back(std::move(calls));
    cells.push_back(std::move(name));
    return cells;
  };
  Table table(row_of("share", std::string(profile::info_of(view.metric).label), "calls", title));
  for (const Neighbour& n : neighbours.rows) {
    const std::uint64_t total = n.total.of(view.metric);
    table.add(row_of(percent(total, whole), amount_text(view.metric, total), grouped(n.calls),
                     name_of(view, n.method) + (is_focused[n.method.value()] ? " (recursion)" : "")));
  }
  if (table.is_empty()) table.add(row_of("", "", "", "none"));
  std::string text = "\n" + table.text(console);
  if (neighbours.left_out != 0)
    text += fmt::format("... and {} more: --top 0 shows all\n", grouped(neighbours.left_out));
  return text;
}

nlohmann::ordered_json json_of(const ReportView& view, const std::vector<Neighbour>& neighbours) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Neighbour& n : neighbours) {
    list.push_back({{"name", name_of(view, n.method)}, {"calls", n.calls}, {"total", amounts_json(n.total)}});
  }
  return list;
}

}  // namespace

std::vector<bool> focused_methods(const ReportView& view) {
  std::vector<bool> is_focused(view.profile.methods.size());
  if (view.options.focus.empty()) return is_focused;
  for (std::uint32_t i = 1; i < is_focused.size(); ++i) {
    const profile::Method& method = view.profile.methods[i];
    is_focused[i] = method_matches(view.options.focus, view.profile.class_of(method).name, method.name);
  }
  return is_focused;
}

std::string focus_text(const ReportView& view, const std::vector<bool>& is_focused, const Console& console) {
  const Focus focus = profile::focus_on(view.profile, view.threads, is_focused);
  const std::vector<std::string> names = focused_names(view, is_focused);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    text += (i == 0 ? "Focus     " : "          ") + console.inked(on_one_line(names[i]), Ink::kBold) + "\n";
  }
  if (names.size() > kMostNames) text += fmt::format("          and {} more\n", names.size() - kMostNames);
  const std::uint64_t self = focus.sum.self.of(view.metric);
  const std::uint64_t total = focus.sum.total.of(view.metric);
  text += fmt::format("          self {} ({}), total {} ({}) {}", amount_text(view.metric, self),
                      percent(self, view.whole_value()).text, amount_text(view.metric, total),
                      percent(total, view.whole_value()).text, profile::info_of(view.metric).label);
  const std::uint64_t calls = focus.sum.self.of(profile::Metric::kCalls);
  text += profile::has_metric(view.profile, profile::Metric::kCalls)
              ? fmt::format("; called {} times\n", grouped(calls))
              : "\n";
  text += table_of(view, is_focused, shown(view, focus.callers), total, "caller", console);
  return text + table_of(view, is_focused, shown(view, focus.callees), total, "callee", console);
}

void add_focus(const ReportView& view, const std::vector<bool>& is_focused, nlohmann::ordered_json& json) {
  const Focus focus = profile::focus_on(view.profile, view.threads, is_focused);
  json["focus"] = {{"pattern", view.options.focus}, {"methods", focused_names(view, is_focused)}};
  json["focus"]["self"] = amounts_json(focus.sum.self);
  json["focus"]["total"] = amounts_json(focus.sum.total);
  json["focus"]["callers"] = json_of(view, shown(view, focus.callers).rows);
  json["focus"]["callees"] = json_of(view, shown(view, focus.callees).rows);
}

}  // namespace sonde::cli
