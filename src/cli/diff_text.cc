// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/diff.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using profile::Amounts;
using profile::DiffRow;
using profile::DiffTree;
using profile::Grouping;
using profile::Metric;
using profile::MetricInfo;

constexpr std::size_t kFirstFrames = 2;  // of a long path, what is shown
constexpr std::size_t kLastFrames = 12;

Ink ink_of(double change) { return change > 0 ? Ink::kRed : change < 0 ? Ink::kGreen : Ink::kPlain; }

// "+1,200", "-3.0 ms", "0"
std::string signed_difference(Metric metric, std::uint64_t a, std::uint64_t b) {
  return b > a ? "+" + amount_text(metric, b - a) : b < a ? "-" + amount_text(metric, a - b) : "0";
}

// "+4.6 %" of what it was; "new" and "gone".
std::string relative(std::uint64_t a, std::uint64_t b) {
  if (a == b) return "0.0 %";
  if (a == 0) return "new";
  if (b == 0) return "gone";
  return fmt::format("{:+.1f} %", 100 * (static_cast<double>(b) / static_cast<double>(a) - 1));
}

class Text {
 public:
  Text(const DiffView& view, const Console& console) : view_(view), console_(console) {}

  std::string run() {
    std::string text =
        side('A', view_.options.a, view_.a, view_.whole_a) + side('B', view_.options.b, view_.b, view_.whole_b);
    text += change_line();
    if (view_.path.nodes.empty())
      return text + "\nno difference" + (view_.comparison.is_sampled() ? " beyond noise\n" : "\n");
    text += path();
    using enum DiffBy;
    const auto is_wanted = [&](DiffBy by) { return view_.options.by == by; };
    if (is_wanted(kMethod) || !view_.options.by) text += rows(Grouping::kMethod, "method");
    if (is_wanted(kClass)) text += rows(Grouping::kClass, "class");
    if (is_wanted(kPackage)) text += rows(Grouping::kPackage, "package");
    if (is_wanted(kContext) || !view_.options.by) text += contexts();
    return text;
  }

 private:
  static std::string side(char letter, const std::string& path, const profile::Profile& profile, const Amounts& whole) {
    std::string text = fmt::format("{}         {}:", letter, path);
    const char* separator = " ";
    for (const MetricInfo& info : profile::kMetrics) {
      if (!profile::has_metric(profile, info.metric)) continue;
      text += fmt::format("{}{} {}", separator, amount_text(info.metric, whole.of(info.metric)), info.label);
      separator = ", ";
    }
    return text + "\n" + losses_of(profile);
  }

  [[nodiscard]] std::string change_line() const {
    std::string text = "Change   ";
    const char* separator = " ";
    for (const MetricInfo& info : profile::kMetrics) {
      if (!profile::has_metric(view_.a, info.metric) || !profile::has_metric(view_.b, info.metric)) continue;
      const std::uint64_t a = view_.whole_a.of(info.metric);
      const std::uint64_t b = view_.whole_b.of(info.metric);
      text += fmt::format("{}{} {} ({})", separator, signed_difference(info.metric, a, b), info.label, relative(a, b));
      separator = ", ";
    }
    return text + "\n";
  }

  // Samples know nothing of calls.
  [[nodiscard]] bool has_calls() const {
    return profile::has_metric(view_.a, Metric::kCalls) || profile::has_metric(view_.b, Metric::kCalls);
  }
  void add_calls(const profile::Sum& a, const profile::Sum& b, std::vector<Cell>& cells) const {
    if (!has_calls()) return;
    cells.emplace_back(signed_difference(Metric::kCalls, a.self.of(Metric::kCalls), b.self.of(Metric::kCalls)));
  }

  // Header and cells of the compared values, the same in all tables.
  [[nodiscard]] std::vector<Cell> header(std::initializer_list<std::string_view> more) const {
    std::vector<Cell> cells;
    if (view_.comparison.is_normalised) {
      cells = {"points", "A", "B"};
    } else {
      cells = {"change", "", "A", "B"};
    }
    if (view_.comparison.is_sampled()) cells.emplace_back("p");
    for (const std::string_view name : more) {
      if (name != "calls" || has_calls()) cells.emplace_back(std::string(name));
    }
    return cells;
  }
  [[nodiscard]] std::vector<Cell> cells_of(const Amounts& amounts_a, const Amounts& amounts_b) const {
    const profile::Comparison& comparison = view_.comparison;
    const std::uint64_t a = amounts_a.of(comparison.metric);
    const std::uint64_t b = amounts_b.of(comparison.metric);
    const double change = comparison.change(amounts_a, amounts_b);
    std::vector<Cell> cells;
    if (comparison.is_normalised) {
      const double share_a = share_percent(a, view_.whole_a.of(comparison.metric));
      const double share_b = share_percent(b, view_.whole_b.of(comparison.metric));
      cells = {Cell(fmt::format("{:+.2f}", share_b - share_a), ink_of(change)), fmt::format("{:.2f} %", share_a),
               fmt::format("{:.2f} %", share_b)};
    } else {
      const auto text = [&](std::uint64_t amount) { return amount_text(comparison.metric, amount); };
      cells = {Cell(signed_difference(comparison.metric, a, b), ink_of(change)), relative(a, b), text(a), text(b)};
    }
    if (comparison.is_sampled()) cells.emplace_back(fmt::format("{:.2g}", comparison.p_value(amounts_a, amounts_b)));
    return cells;
  }

  [[nodiscard]] std::string path() const {
    Table table(header({"calls", "context"}));
    const std::vector<std::uint32_t>& nodes = view_.path.nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes.size() > kFirstFrames + kLastFrames && i == kFirstFrames) {
        i = nodes.size() - kLastFrames;
        std::vector<Cell> gap(cells_of({}, {}).size() + (has_calls() ? 1 : 0), Cell(""));
        gap.emplace_back(fmt::format("  ... {} more", i - kFirstFrames), Ink::kDim);
        table.add(std::move(gap));
      }
      const DiffTree::Node& node = view_.tree.nodes[nodes[i]];
      std::vector<Cell> cells = cells_of(node.a.total, node.b.total);
      add_calls(node.a, node.b, cells);
      const std::size_t indent = i < kFirstFrames ? i : std::min(i, kFirstFrames + kLastFrames);
      cells.emplace_back(std::string(2 * indent, ' ') + view_.labels.text(node.label));
      table.add(std::move(cells));
    }
    return fmt::format("\nWhere most of it happens: {:.0f} % of all change, totals\n", 100 * view_.path.share) +
           table.text(console_);
  }

  [[nodiscard]] std::string rows(Grouping grouping, const char* title) const {
    const ChangedRows changed = changed_rows(view_, grouping);
    Table table(header({"total", "calls", title}));
    for (const DiffRow& row : changed.rows) {
      std::vector<Cell> cells = cells_of(row.a.self, row.b.self);
      cells.push_back(cells_of(row.a.total, row.b.total).front());
      add_calls(row.a, row.b, cells);
      cells.emplace_back(view_.name_of(row, grouping));
      table.add(std::move(cells));
    }
    return section(fmt::format("By {}, self", title), table, changed.left_out, changed.noise);
  }

  // Innermost first: that is what changed, and it survives when a line is cut.
  [[nodiscard]] std::string contexts() const {
    const ChangedContexts changed = changed_contexts(view_);
    Table table(header({"calls", "context"}));
    for (const std::uint32_t i : changed.nodes) {
      const DiffTree::Node& node = view_.tree.nodes[i];
      std::vector<Cell> cells = cells_of(node.a.self, node.b.self);
      add_calls(node.a, node.b, cells);
      const std::vector<std::string> stack = view_.stack_of(i);
      std::string text;
      for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) text += (text.empty() ? "" : " < ") + *frame;
      cells.emplace_back(std::move(text));
      table.add(std::move(cells));
    }
    return section("By context, self", table, changed.left_out, changed.noise);
  }

  [[nodiscard]] std::string section(const std::string& title, const Table& table, std::size_t left_out,
                                    std::size_t noise) const {
    std::string text = "\n" + title + "\n" + (table.is_empty() ? "nothing\n" : table.text(console_));
    if (left_out != 0) text += fmt::format("... and {} more: --top 0 shows all\n", grouped(left_out));
    if (noise != 0 && !view_.options.all) {
      text +=
          fmt::format("{} changes may be noise (p >= {}): --all shows them\n", grouped(noise), profile::kSignificance);
    }
    return text;
  }

  const DiffView& view_;
  const Console& console_;
};

}  // namespace

std::string diff_text(const DiffView& view, const Console& console) { return Text(view, console).run(); }

}  // namespace sonde::cli
