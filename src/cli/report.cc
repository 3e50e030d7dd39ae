// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/glob.h"
#include "base/method_filter.h"
#include "cli/recording_command.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/merged_tree.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using profile::Amounts;
using profile::Grouping;
using profile::MethodId;
using profile::Metric;
using profile::SumRow;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kDefaultTop = 20;
constexpr std::uint32_t kMaxIndent = 40;

std::string_view name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::kMethod: return "method";
    case Grouping::kClass: return "class";
    case Grouping::kPackage: return "package";
    case Grouping::kThread: return "thread";
    case Grouping::kLine: return "line";
    case Grouping::kState: return "state";
  }
  return "";
}

// Names of methods as a reader wants them: parameters only where the name alone says too little.
class MethodNames {
 public:
  explicit MethodNames(const profile::Profile& profile) : profile_(profile) {
    for (std::uint32_t i = 0; i < profile.methods.size(); ++i) ++uses_[profile.display_name(MethodId(i))];
  }

  [[nodiscard]] std::string operator()(MethodId id) const {
    const profile::Method& method = profile_.method(id);
    std::string name = profile_.display_name(id);
    if (uses_.at(name) > 1) name += profile::parameter_list(method.descriptor);
    if (method.kind == profile::MethodKind::kNative) name += " [native]";
    if (method.kind == profile::MethodKind::kIntrinsic) name += " [intrinsic]";
    return name;
  }

 private:
  const profile::Profile& profile_;
  std::unordered_map<std::string, int> uses_;
};

Json json_of(const Amounts& amounts) {
  Json json = {{"calls", amounts.calls}, {"bytecodes", amounts.bytecodes}};
  if (amounts.samples != 0) json.update({{"samples", amounts.samples}, {"cpu_ns", amounts.cpu_ns}});
  if (amounts.wall_ns != 0) json["wall_ns"] = amounts.wall_ns;
  return json;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class Report {
 public:
  Report(const ReportOptions& options, const profile::Profile& profile, const Console& console)
      : options_(options),
        profile_(profile),
        console_(console),
        filter_(options.include, options.exclude),
        names_(profile) {}

  int run() {
    for (const profile::Thread& thread : profile_.threads) {
      if (options_.thread.empty() || class_name_matches(options_.thread, thread.display_name()))
        threads_.push_back(&thread);
    }
    if (threads_.empty() && !profile_.threads.empty()) return no_such_thread();
    if (profile_.recording.is_flat() && (options_.tree || options_.by == Grouping::kLine)) return no_contexts();
    whole_ = profile::sum_of(profile_, threads_);
    if (options_.json) {
      print_json();
    } else {
      console_.data(recording_header(profile_) + (whole_.calls != 0 ? counted() : "") + sampling_lines(profile_));
      if (options_.tree) {
        print_tree();
      } else {
        print_table();
      }
    }
    return console_.flush() ? kOk : kFailed;
  }

 private:
  int no_such_thread() {
    console_.say(fmt::format("no thread of {} matches `{}`", profile_.threads.size(), options_.thread));
    console_.note("       `--by thread --top 0` lists them all; `*` in a pattern stands for any text.\n");
    return kFailed;
  }

  int no_contexts() {
    console_.say("this is a recording of mode exact:flat, which has no contexts: no tree, no lines of calls");
    console_.note("       Leave out --tree and --by line, or record with `sonde run --mode exact`.\n");
    return kFailed;
  }

  [[nodiscard]] bool accepts(MethodId id) const {
    const profile::Method& method = profile_.method(id);
    return filter_.accepts(profile_.class_of(method).name, method.name);
  }

  [[nodiscard]] double least_percent() const { return options_.min_percent.value_or(options_.tree ? 1.0 : 0.0); }

  [[nodiscard]] std::uint64_t sort_value(const profile::Sum& sum) const {
    return (options_.sort == SortBy::kSelf ? sum.self : sum.total).of(options_.metric);
  }

  [[nodiscard]] std::string counted() const {
    std::size_t contexts = 0;
    for (const profile::Thread* thread : threads_) contexts += thread->end_node - thread->first_node - 1;
    const std::string of_contexts = profile_.recording.is_flat() ? "no" : grouped(contexts);
    return fmt::format("Counted   {} bytecodes, {} calls, {} contexts, {} {}\n", grouped(whole_.bytecodes),
                       grouped(whole_.calls), of_contexts, grouped(threads_.size()),
                       threads_.size() == 1 ? "thread" : "threads");
  }

  // Rows that are to be shown, in their order; `left_out` counts the others.
  std::vector<SumRow> rows(std::size_t& left_out) const {
    std::vector<SumRow> rows = profile::sums_by(profile_, threads_, options_.by);
    // A thread has no method, so no pattern speaks of it.
    if (options_.by != Grouping::kThread && options_.by != Grouping::kState) filter_rows(rows);
    const std::uint64_t whole = whole_.of(options_.metric);
    std::erase_if(rows, [&](const SumRow& row) { return share(sort_value(row.sum), whole) < least_percent(); });
    if (options_.by == Grouping::kMethod) {
      for (SumRow& row : rows) row.name = names_(row.method);
    }
    std::sort(rows.begin(), rows.end(), [&](const SumRow& a, const SumRow& b) {
      const auto key = [&](const SumRow& row) {
        return std::pair(sort_value(row.sum), row.sum.total.of(options_.metric));
      };
      return key(a) != key(b) ? key(a) > key(b) : a.name < b.name;
    });
    const std::size_t top = options_.top.value_or(kDefaultTop);
    left_out = top != 0 && rows.size() > top ? rows.size() - top : 0;
    rows.resize(rows.size() - left_out);
    return rows;
  }

  // Classes and packages stay if one of their methods is accepted.
  void filter_rows(std::vector<SumRow>& rows) const {
    if (filter_.accepts_everything()) return;
    if (options_.by == Grouping::kMethod || options_.by == Grouping::kLine) {
      std::erase_if(rows, [&](const SumRow& row) { return !accepts(row.method); });
      return;
    }
    std::unordered_map<std::string, bool> accepted;
    for (std::uint32_t i = 1; i < profile_.methods.size(); ++i) {
      const std::string& class_name = profile_.class_of(MethodId(i)).name;
      const bool is_package = options_.by == Grouping::kPackage;
      accepted[is_package ? profile::package_of(class_name) : class_name] |= accepts(MethodId(i));
    }
    std::erase_if(rows, [&](const SumRow& row) {
      const std::string& class_name = profile_.class_of(row.method).name;
      return !accepted[options_.by == Grouping::kPackage ? profile::package_of(class_name) : class_name];
    });
  }

  // Times with the interval that the true share lies in.
  void print_sampled_table(const std::vector<SumRow>& shown) const {
    const Metric metric = options_.metric;
    Table table({"self", "95 % sure", std::string(name_of(metric)), "total", std::string(name_of(metric)),
                 std::string(name_of(options_.by))});
    const std::uint64_t whole = whole_.of(metric);
    for (const SumRow& row : shown) {
      const std::uint64_t self = row.sum.self.of(metric);
      const std::uint64_t total = row.sum.total.of(metric);
      table.add({percent(self, whole), confidence_text(confidence_of(profile_, metric, self, whole)),
                 amount_text(metric, self), percent(total, whole), amount_text(metric, total), row.name});
    }
    console_.data("\n" + (table.is_empty() ? "nothing matches\n" : table.text()));
  }

  void print_table() const {
    std::size_t left_out = 0;
    const std::vector<SumRow> shown = rows(left_out);
    const Metric metric = options_.metric;
    if (is_sampled(metric)) {
      print_sampled_table(shown);
      if (left_out != 0) console_.data(fmt::format("... and {} more: --top 0 shows all\n", grouped(left_out)));
      return;
    }
    const Metric other = metric == Metric::kCalls ? Metric::kBytecodes : Metric::kCalls;
    // Without contexts nobody knows what a method called.
    const bool totals = !profile_.recording.is_flat();
    std::vector<std::string> heads = {"self", std::string(name_of(metric))};
    if (totals) heads.insert(heads.end(), {"total", std::string(name_of(metric))});
    heads.insert(heads.end(), {std::string(name_of(other)), std::string(name_of(options_.by))});
    Table table(std::move(heads));
    const std::uint64_t whole = whole_.of(metric);
    for (const SumRow& row : shown) {
      const std::uint64_t self = row.sum.self.of(metric);
      const std::uint64_t total = row.sum.total.of(metric);
      std::vector<std::string> cells = {percent(self, whole), grouped(self)};
      if (totals) cells.insert(cells.end(), {percent(total, whole), grouped(total)});
      cells.insert(cells.end(), {grouped(row.sum.self.of(other)), row.name});
      table.add(std::move(cells));
    }
    console_.data("\n" + (table.is_empty() ? "nothing matches\n" : table.text()));
    if (left_out != 0) console_.data(fmt::format("... and {} more: --top 0 shows all\n", grouped(left_out)));
  }

  // Calls the functions for what is to be shown, in its order. False if --top ended it early.
  template <typename OnThread, typename OnNode, typename OnHidden>
  bool walk_tree(const OnThread& on_thread, const OnNode& on_node, const OnHidden& on_hidden) const {
    profile::Labels labels(profile_, names_);
    for (std::uint32_t i = 0; i < profile_.methods.size(); ++i) {
      if (!accepts(MethodId(i))) labels.hide(MethodId(i));
    }
    const Metric metric = options_.metric;
    const double least = least_percent();
    const auto is_shown = [&](std::uint64_t value) { return share(value, whole_.of(metric)) >= least; };
    std::vector<std::pair<std::uint64_t, profile::ThreadGroup>> groups;
    for (profile::ThreadGroup& group : profile::threads_by_name(threads_)) {
      groups.emplace_back(profile::sum_of(profile_, group.threads).of(metric), std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::size_t left = options_.top.value_or(0) == 0 ? ~std::size_t{0} : *options_.top;
    struct Pending {
      std::uint32_t depth;
      std::uint32_t node;
      std::size_t hidden;  // not a node: how many siblings are left out
    };
    std::vector<Pending> pending;
    for (const auto& [value, group] : groups) {
      if (!is_shown(value)) continue;
      if (left == 0) return false;
      on_thread(group);
      const profile::MergedTree tree = profile::merged_tree(profile_, group.threads, labels);
      const auto expand = [&](std::uint32_t node, std::uint32_t depth) {
        std::vector<std::uint32_t> children = tree.children(node, metric);
        const auto hidden = std::partition_point(children.begin(), children.end(), [&](std::uint32_t child) {
          return is_shown(tree.nodes[child].sum.total.of(metric));
        });
        if (hidden != children.end()) {
          pending.push_back({.depth = depth, .node = 0, .hidden = static_cast<std::size_t>(children.end() - hidden)});
        }
        std::for_each(std::make_reverse_iterator(hidden), children.rend(),
                      [&](std::uint32_t child) { pending.push_back({.depth = depth, .node = child, .hidden = 0}); });
      };
      expand(profile::MergedTree::kNone, 1);
      for (; !pending.empty() && left != 0; --left) {
        const Pending next = pending.back();
        pending.pop_back();
        if (next.hidden != 0) {
          on_hidden(next.depth, next.hidden);
          continue;
        }
        on_node(next.depth, tree.nodes[next.node], labels);
        expand(next.node, next.depth + 1);
      }
      if (!pending.empty()) return false;
    }
    return true;
  }

  static std::string indented(std::uint32_t depth, const std::string& text) {
    if (depth <= kMaxIndent) return std::string(2 * depth, ' ') + text;
    return std::string(2 * kMaxIndent, ' ') + fmt::format("({} deep) ", depth) + text;
  }

  void print_tree() const {
    const Metric metric = options_.metric;
    const Metric other = metric == Metric::kCalls ? Metric::kBytecodes : Metric::kCalls;
    Table table({"total", std::string(name_of(metric)), "self", std::string(name_of(other)), "context"});
    const std::uint64_t whole = whole_.of(metric);
    const auto add = [&](std::uint64_t total, std::string self, std::string other_value, std::string name) {
      table.add({percent(total, whole), amount_text(metric, total), std::move(self), std::move(other_value),
                 std::move(name)});
    };
    const bool is_complete = walk_tree(
        [&](const profile::ThreadGroup& group) {
          add(profile::sum_of(profile_, group.threads).of(metric), "", "", "thread " + group.name);
        },
        [&](std::uint32_t depth, const profile::MergedTree::Node& node, const profile::Labels& labels) {
          add(node.sum.total.of(metric), amount_text(metric, node.sum.self.of(metric)),
              grouped(node.sum.self.of(other)), indented(depth, labels.text(node.label)));
        },
        [&](std::uint32_t depth, std::size_t count) {
          table.add(
              {"", "", "", "", indented(depth, fmt::format("... {} below {} %", grouped(count), least_percent()))});
        });
    console_.data("\n" + (table.is_empty() ? "nothing matches\n" : table.text()));
    if (!is_complete) console_.data("... and more: --top 0 shows all\n");
  }

  [[nodiscard]] Json row_json(const SumRow& row) const {
    Json json = {{"name", row.name}};
    if (options_.by == Grouping::kMethod) {
      const profile::Method& method = profile_.method(row.method);
      json["class"] = profile_.class_of(method).name;
      json["method"] = method.name;
      json["descriptor"] = method.descriptor;
    }
    if (options_.by == Grouping::kLine) json["line"] = row.line;
    const std::uint64_t whole = whole_.of(options_.metric);
    json["self"] = json_of(row.sum.self);
    json["total"] = json_of(row.sum.total);
    json["self_percent"] = share(row.sum.self.of(options_.metric), whole);
    json["total_percent"] = share(row.sum.total.of(options_.metric), whole);
    if (is_sampled(options_.metric)) {
      const auto interval = [&](std::uint64_t part) {
        const profile::Interval i = confidence_of(profile_, options_.metric, part, whole);
        return Json{{"low", 100 * i.low}, {"high", 100 * i.high}};
      };
      json["self_percent_95"] = interval(row.sum.self.of(options_.metric));
      json["total_percent_95"] = interval(row.sum.total.of(options_.metric));
    }
    return json;
  }

  void print_json() const {
    Json json = recording_json(profile_);
    json["metric"] = name_of(options_.metric);
    json["sum"] = json_of(whole_);
    if (profile_.recording.sampling.is_on()) json["sampling"] = sampling_json(profile_);
    if (options_.tree) {
      Json list = Json::array();
      json["is_complete"] = list_tree(list);
      json["tree"] = std::move(list);
    } else {
      json["by"] = name_of(options_.by);
      json["sort"] = options_.sort == SortBy::kSelf ? "self" : "total";
      std::size_t left_out = 0;
      Json list = Json::array();
      for (const SumRow& row : rows(left_out)) list.push_back(row_json(row));
      json["rows"] = std::move(list);
      json["rows_left_out"] = left_out;
    }
    console_.data(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // Preorder with depths instead of nesting: recursion may be deeper than what JSON readers take.
  [[nodiscard]] bool list_tree(Json& list) const {
    return walk_tree(
        [&](const profile::ThreadGroup& group) {
          const Amounts sum = profile::sum_of(profile_, group.threads);
          list.push_back({{"depth", 0}, {"thread", group.name}, {"total", json_of(sum)}});
        },
        [&](std::uint32_t depth, const profile::MergedTree::Node& node, const profile::Labels& labels) {
          list.push_back({{"depth", depth},
                          {"name", labels.text(node.label)},
                          {"self", json_of(node.sum.self)},
                          {"total", json_of(node.sum.total)}});
        },
        [](std::uint32_t, std::size_t) {});
  }

  const ReportOptions& options_;
  const profile::Profile& profile_;
  const Console& console_;
  const MethodFilter filter_;
  const MethodNames names_;
  std::vector<const profile::Thread*> threads_;
  Amounts whole_;
};

}  // namespace

int report(const ReportOptions& options, const Console& console) {
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  ReportOptions chosen = options;
  chosen.metric = metric_for(*profile, options.metric);
  return Report(chosen, *profile, console).run();
}

}  // namespace sonde::cli
