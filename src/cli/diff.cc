// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/glob.h"
#include "cli/recording_file.h"
#include "profile/metric.h"

namespace sonde::cli {

using profile::DiffRow;
using profile::DiffTree;
using profile::Grouping;
using profile::MethodId;
using profile::Metric;
using profile::Profile;

namespace {

constexpr std::size_t kDefaultTop = 10;

std::vector<const profile::Thread*> threads_of(const Profile& profile, const std::string& pattern) {
  std::vector<const profile::Thread*> threads;
  for (const profile::Thread& thread : profile.threads) {
    if (pattern.empty() || class_name_matches(pattern, thread.display_name())) threads.push_back(&thread);
  }
  return threads;
}

void hide(profile::Labels& labels, const Profile& profile, const MethodFilter& filter) {
  for (std::uint32_t i = 1; i < profile.methods.size(); ++i) {
    const profile::Method& method = profile.methods[i];
    if (!filter.accepts(profile.class_of(method).name, method.name)) labels.hide(MethodId(i));
  }
}

// The `most` greatest by a value (0: all), in order; equal ones in the order they had. How many others there were.
template <typename T, typename Value>
std::size_t keep_greatest(std::vector<T>& items, std::size_t most, const Value& value_of) {
  using Key = std::decay_t<decltype(value_of(items.front()))>;
  std::vector<std::pair<Key, std::size_t>> order;
  order.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(value_of(items[i]), i);
  const std::size_t kept = most == 0 ? items.size() : std::min(most, items.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [](const auto& x, const auto& y) { return x.first != y.first ? x.first > y.first : x.second < y.second; });
  std::vector<T> result;
  result.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) result.push_back(std::move(items[order[i].second]));
  const std::size_t left_out = items.size() - kept;
  items = std::move(result);
  return left_out;
}

}  // namespace

DiffView::DiffView(const DiffOptions& diff_options, const Profile& profile_a, const Profile& profile_b, Metric metric)
    : options(diff_options),
      a(profile_a),
      b(profile_b),
      filter(diff_options.include, diff_options.exclude),
      names({&profile_a, &profile_b}),
      side_a{profile_a, threads_of(profile_a, diff_options.thread)},
      side_b{profile_b, threads_of(profile_b, diff_options.thread)},
      whole_a(profile::sum_of(profile_a, side_a.threads)),
      whole_b(profile::sum_of(profile_b, side_b.threads)) {
  comparison = {.metric = metric, .whole_a = whole_a, .whole_b = whole_b, .is_normalised = options.is_normalised};
  comparison.events_a = profile::events_behind(a, metric);
  comparison.events_b = profile::events_behind(b, metric);
  std::vector<profile::Labels> joint = profile::Labels::joint({names.all(a), names.all(b)});
  hide(joint[0], a, filter);
  hide(joint[1], b, filter);
  tree = {profile::merged_tree(a, side_a.threads, joint[0]), profile::merged_tree(b, side_b.threads, joint[1])};
  labels = std::move(joint[0]);
  path = profile::path_of_change(tree, comparison);
}

std::size_t DiffView::most_rows() const { return options.top.value_or(kDefaultTop); }

std::vector<std::string> DiffView::stack_of(std::uint32_t node) const {
  std::vector<std::string> stack;
  for (; node != DiffTree::kNone; node = tree.nodes[node].parent) stack.push_back(labels.text(tree.nodes[node].label));
  std::reverse(stack.begin(), stack.end());
  return stack;
}

std::string DiffView::name_of(const DiffRow& row, Grouping grouping) const {
  if (grouping != Grouping::kMethod) return row.name;
  return row.in_a ? names(a, *row.in_a) : names(b, *row.in_b);
}

ChangedRows changed_rows(const DiffView& view, Grouping grouping) {
  ChangedRows changed;
  std::unordered_set<std::string> accepted;
  if (!view.filter.accepts_everything()) {
    accepted = profile::accepted_names(view.a, view.filter, grouping);
    accepted.merge(profile::accepted_names(view.b, view.filter, grouping));
  }
  const profile::Comparison& comparison = view.comparison;
  for (DiffRow& row : profile::diff_by(view.side_a, view.side_b, grouping)) {
    if (!view.filter.accepts_everything() && !accepted.contains(row.name)) continue;
    const bool is_changed =
        comparison.change(row.a.self, row.b.self) != 0 || comparison.change(row.a.total, row.b.total) != 0;
    if (!is_changed) continue;
    const bool is_noise =
        !comparison.is_significant(row.a.self, row.b.self) && !comparison.is_significant(row.a.total, row.b.total);
    if (is_noise) ++changed.noise;
    if (!is_noise || view.options.all) changed.rows.push_back(std::move(row));
  }
  changed.left_out = keep_greatest(changed.rows, view.most_rows(), [&](const DiffRow& row) {
    return std::pair(std::abs(comparison.change(row.a.self, row.b.self)),
                     std::abs(comparison.change(row.a.total, row.b.total)));
  });
  return changed;
}

ChangedContexts changed_contexts(const DiffView& view) {
  ChangedContexts changed;
  for (std::uint32_t i = 0; i < view.tree.nodes.size(); ++i) {
    const DiffTree::Node& node = view.tree.nodes[i];
    if (view.comparison.change(node.a.self, node.b.self) == 0) continue;
    const bool is_noise = !view.comparison.is_significant(node.a.self, node.b.self);
    if (is_noise) ++changed.noise;
    if (!is_noise || view.options.all) changed.nodes.push_back(i);
  }
  changed.left_out = keep_greatest(changed.nodes, view.most_rows(), [&](std::uint32_t i) {
    return std::abs(view.comparison.change(view.tree.nodes[i].a.self, view.tree.nodes[i].b.self));
  });
  return changed;
}

int diff(const DiffOptions& options, const Console& console) {
  console.doing("reading " + options.a, 1, 3);
  const auto a = open_recording(options.a, console);
  if (!a) return kFailed;
  console.doing("reading " + options.b, 2, 3);
  const auto b = open_recording(options.b, console);
  if (!b) return kFailed;
  const std::optional<Metric> metric = options.metric ? options.metric : profile::common_metric_of_work(*a, *b);
  if (!metric || !profile::has_metric(*a, *metric) || !profile::has_metric(*b, *metric)) {
    console.say(fmt::format("{} and {} have no {} both, so there is nothing to compare", options.a, options.b,
                            metric ? profile::name_of(*metric) : "bytecodes or samples"));
    console.note("       `sonde status` tells what a recording holds; --metric chooses what is compared.\n");
    return kFailed;
  }
  console.doing("comparing", 3, 3);
  const DiffView view(options, *a, *b, *metric);
  if (view.whole_a.of(*metric) == 0 || view.whole_b.of(*metric) == 0) {
    console.say(fmt::format("no thread of {} matches `{}`", view.whole_a.of(*metric) == 0 ? options.a : options.b,
                            options.thread));
    return kFailed;
  }
  console.data(options.json ? diff_json(view) : diff_text(view, console));
  return console.flush() ? kOk : kFailed;
}

}  // namespace sonde::cli
