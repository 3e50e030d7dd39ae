// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/recording_file.h"
#include "cli/report.h"
#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/merged_tree.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using profile::Amounts;
using profile::MergedTree;
using profile::Metric;

constexpr std::uint32_t kMaxIndent = 40;

struct TreeLine {
  enum class Kind : std::uint8_t { kThread, kContext, kFolded };
  Kind kind;
  std::uint32_t depth;  // 0 for threads
  std::string name;     // of a thread or method
  std::size_t folded = 0;
  profile::Sum sum;  // of folded ones only the total
};

// The lines to show, in their order.
class TreeLines {
 public:
  explicit TreeLines(const ReportView& view)
      : view_(view), labels_(profile::Labels::joint({view.names.all(view.profile)})[0]) {
    for (std::uint32_t i = 0; i < view.profile.methods.size(); ++i) {
      if (!view.accepts(profile::MethodId(i))) labels_.hide(profile::MethodId(i));
    }
    add_threads();
  }

  [[nodiscard]] const std::vector<TreeLine>& lines() const { return lines_; }
  // False: --top ended it early.
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  struct Group {
    profile::ThreadGroup threads;
    Amounts total;
  };
  struct Pending {
    std::uint32_t depth;
    std::uint32_t node;
    std::size_t folded = 0;  // not a node: siblings that are too small, and their sum
    Amounts folded_total;
  };

  [[nodiscard]] bool is_full() const { return view_.most_rows() != 0 && lines_.size() >= view_.most_rows(); }

  void add_threads() {
    std::vector<Group> groups;
    for (profile::ThreadGroup& threads : profile::threads_by_name(view_.threads)) {
      const Amounts total = profile::sum_of(view_.profile, threads.threads);
      groups.push_back({std::move(threads), total});
    }
    std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
      return a.total.of(view_.metric) > b.total.of(view_.metric);
    });
    const auto small = std::partition_point(groups.begin(), groups.end(), [&](const Group& group) {
      return view_.is_large_enough(group.total.of(view_.metric));
    });
    for (auto group = groups.begin(); group != small && is_complete_; ++group) add_thread(*group);
    if (small == groups.end() || !is_complete_) return;
    Amounts rest;
    std::for_each(small, groups.end(), [&](const Group& group) { rest += group.total; });
    push({.kind = TreeLine::Kind::kFolded,
          .depth = 0,
          .name = {},
          .folded = static_cast<std::size_t>(groups.end() - small),
          .sum = {.self = {}, .total = rest}});
  }

  void add_thread(const Group& group) {
    push({.kind = TreeLine::Kind::kThread,
          .depth = 0,
          .name = group.threads.name,
          .sum = {.self = {}, .total = group.total}});
    const MergedTree tree = profile::merged_tree(view_.profile, group.threads.threads, labels_);
    expand(tree, MergedTree::kNone, 1);
    while (!pending_.empty() && is_complete_) {
      const Pending next = pending_.back();
      pending_.pop_back();
      if (next.folded != 0) {
        push({.kind = TreeLine::Kind::kFolded,
              .depth = next.depth,
              .name = {},
              .folded = next.folded,
              .sum = {.self = {}, .total = next.folded_total}});
        continue;
      }
      const MergedTree::Node& node = tree.nodes[next.node];
      push({.kind = TreeLine::Kind::kContext, .depth = next.depth, .name = labels_.text(node.label), .sum = node.sum});
      expand(tree, next.node, next.depth + 1);
    }
    pending_.clear();
  }

  void expand(const MergedTree& tree, std::uint32_t node, std::uint32_t depth) {
    const std::vector<std::uint32_t> children = tree.children(node, view_.metric);
    const auto small = std::partition_point(children.begin(), children.end(), [&](std::uint32_t child) {
      return view_.is_large_enough(tree.nodes[child].sum.total.of(view_.metric));
    });
    if (small != children.end()) {
      Pending folded{
          .depth = depth, .node = 0, .folded = static_cast<std::size_t>(children.end() - small), .folded_total = {}};
      std::for_each(small, children.end(), [&](std::uint32_t c) { folded.folded_total += tree.nodes[c].sum.total; });
      pending_.push_back(folded);
    }
    std::for_each(std::make_reverse_iterator(small), children.rend(), [&](std::uint32_t child) {
      pending_.push_back({.depth = depth, .node = child, .folded_total = {}});
    });
  }

  void push(TreeLine line) {
    if (is_full()) {
      is_complete_ = false;
    } else {
      lines_.push_back(std::move(line));
    }
  }

  const ReportView& view_;
  profile::Labels labels_;
  std::vector<TreeLine> lines_;
  std::vector<Pending> pending_;
  bool is_complete_ = true;
};

std::string indented(std::uint32_t depth, const std::string& text, const Console& console) {
  const std::uint32_t most =
      console.width == 0 ? kMaxIndent
                         : std::clamp<std::uint32_t>(static_cast<std::uint32_t>(console.width) / 8, 4, kMaxIndent);
  if (depth <= most) return std::string(2 * depth, ' ') + text;
  return std::string(2 * most, ' ') + fmt::format("({} deep) ", depth) + text;
}

Cell context_cell(const ReportView& view, const TreeLine& line, const Console& console) {
  switch (line.kind) {
    case TreeLine::Kind::kThread: return {"thread " + line.name, Ink::kBold};
    case TreeLine::Kind::kFolded:
      return {indented(line.depth,
                       fmt::format("... {}{} below {} %", grouped(line.folded), line.depth == 0 ? " threads" : "",
                                   view.least_percent()),
                       console),
              Ink::kDim};
    case TreeLine::Kind::kContext: break;
  }
  return indented(line.depth, line.name, console);
}

}  // namespace

std::string tree_text(const ReportView& view, const Console& console) {
  std::vector<Cell> header = {"total", std::string(profile::info_of(view.metric).label), "self"};
  for (const Metric other : view.others) header.emplace_back(std::string(profile::info_of(other).label));
  header.emplace_back("context");
  Table table(std::move(header));
  const TreeLines tree(view);
  for (const TreeLine& line : tree.lines()) {
    const bool is_context = line.kind == TreeLine::Kind::kContext;
    const std::uint64_t total = line.sum.total.of(view.metric);
    std::vector<Cell> cells = {percent(total, view.whole_value()), amount_text(view.metric, total),
                               is_context ? amount_text(view.metric, line.sum.self.of(view.metric)) : ""};
    for (const Metric other : view.others)
      cells.emplace_back(is_context ? amount_text(other, line.sum.self.of(other)) : "");
    cells.push_back(context_cell(view, line, console));
    table.add(std::move(cells));
  }
  if (table.is_empty()) return "nothing matches\n";
  return table.text(console) + (tree.is_complete() ? "" : "... and more: --top 0 shows all\n");
}

// Preorder with depths instead of nesting: recursion may be deeper than what JSON readers take.
void add_tree(const ReportView& view, nlohmann::ordered_json& json) {
  const TreeLines tree(view);
  json["is_complete"] = tree.is_complete();
  json["tree"] = nlohmann::ordered_json::array();
  for (const TreeLine& line : tree.lines()) {
    nlohmann::ordered_json entry = {{"depth", line.depth}};
    switch (line.kind) {
      case TreeLine::Kind::kThread: entry["thread"] = line.name; break;
      case TreeLine::Kind::kFolded: entry["folded"] = line.folded; break;
      case TreeLine::Kind::kContext:
        entry["name"] = line.name;
        entry["self"] = amounts_json(line.sum.self);
        break;
    }
    entry["total"] = amounts_json(line.sum.total);
    json["tree"].push_back(std::move(entry));
  }
}

}  // namespace sonde::cli
