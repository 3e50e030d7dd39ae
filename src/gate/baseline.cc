// SPDX-License-Identifier: Apache-2.0
#include "gate/baseline.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "gate/match.h"
#include "gate/prune.h"
#include "profile/merged_tree.h"
#include "profile/metric.h"

namespace sonde::gate {

using profile::Amounts;
using profile::MergedTree;
using profile::MethodId;
using profile::Metric;
using profile::Profile;

namespace {

constexpr std::uint32_t kMaxDepth = 64;  // of contexts in a file: recursion may go on for ever

bool is_large(const Amounts& amounts, const Baseline& baseline, std::span<const Metric> metrics) {
  return std::any_of(metrics.begin(), metrics.end(), [&](Metric metric) {
    return amounts.of(metric) != 0 && amounts.of(metric) >= baseline.fold_bound(metric);
  });
}

// A start of the JVM makes many calls that do little: contexts are there to explain where work is done.
std::vector<Metric> metrics_of_work(const Baseline& baseline) {
  std::vector<Metric> metrics = baseline.metrics;
  if (metrics.size() > 1) std::erase(metrics, Metric::kCalls);
  return metrics;
}

// A merged tree as the one thread of a profile, what is too small put together.
class Folding {
 public:
  Folding(const Profile& profile, const Limits& limits, Baseline& baseline)
      : labels_(profile, [&](MethodId id) { return profile.full_name(id); }),
        tree_(profile::merged_tree(profile, profile.all_threads(), labels_)),
        baseline_(baseline),
        keep_(tree_.nodes.size()) {
    const std::vector<Metric> metrics = metrics_of_work(baseline);
    std::vector<std::uint32_t> path;
    for (std::uint32_t node = 0; node < tree_.nodes.size(); ++node) {
      path.resize(tree_.nodes[node].depth);
      path.push_back(node);
      if (path.size() > kMaxDepth) continue;
      const bool is_wanted = is_large(tree_.nodes[node].sum.total, baseline, metrics) ||
                             std::any_of(limits.limits.begin(), limits.limits.end(), [&](const Limit& limit) {
                               return !limit.context.empty() && matches(limit.context, path);
                             });
      if (!is_wanted) continue;
      for (const std::uint32_t caller : path) keep_[caller] = true;
    }
  }

  void run() {
    Profile& contexts = baseline_.contexts;
    contexts.threads.push_back({.name = "all"});
    contexts.tree.push_root();
    // Preorder, with a pending sum of folded children per open node.
    std::vector<Open> open;
    open.push_back({.depth = 0, .end = static_cast<std::uint32_t>(tree_.nodes.size()), .folded = {}});
    for (std::uint32_t node = 0; node < tree_.nodes.size();) {
      while (open.back().end <= node) close(open);
      const MergedTree::Node& n = tree_.nodes[node];
      if (!keep_[node]) {
        open.back().folded += n.sum.total;
        node = n.end;
        continue;
      }
      contexts.tree.push(n.depth + 1, method_of(labels_.text(n.label)), 0, n.sum.self);
      open.push_back({.depth = n.depth + 1, .end = n.end, .folded = {}});
      ++node;
    }
    while (!open.empty()) close(open);
    contexts.tree.seal().value();
    contexts.assign_threads().value();
  }

 private:
  struct Open {
    std::uint32_t depth;
    std::uint32_t end;
    Amounts folded;
  };

  [[nodiscard]] bool matches(const std::vector<std::string>& patterns, const std::vector<std::uint32_t>& path) const {
    std::vector<std::string_view> names;
    names.reserve(path.size());
    for (const std::uint32_t node : path) names.emplace_back(labels_.text(tree_.nodes[node].label));
    return path_matches(patterns, names);
  }

  void close(std::vector<Open>& open) {
    const Open last = open.back();
    open.pop_back();
    if (last.folded != Amounts{})
      baseline_.contexts.tree.push(last.depth + 1, method_of(std::string(kFoldedName)), 0, last.folded);
  }

  MethodId method_of(const std::string& name) { return names_.method_of(name, baseline_.contexts); }

  const profile::Labels labels_;
  const MergedTree tree_;
  Baseline& baseline_;
  std::vector<bool> keep_;
  NamedMethods names_;
};

}  // namespace

std::uint64_t Baseline::fold_bound(Metric metric) const {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(sum.of(metric)) * min_percent / 100));
}

std::string comparable_mode(const profile::Recording& recording) {
  return recording.mode + (recording.is_precise ? " precise" : "") + (recording.includes_jdk ? " jdk" : "");
}

Baseline make_baseline(const Profile& recorded, const Limits& limits, double min_percent) {
  const Profile profile = without(recorded, limits.allowed);
  Baseline baseline{.program = profile.recording.command,
                    .jdk = profile.recording.jdk,
                    .mode = comparable_mode(profile.recording),
                    .allowed = limits.allowed,
                    .min_percent = min_percent,
                    .metrics = {},
                    .sum = profile::sum_of(profile, profile.all_threads()),
                    .methods = {},
                    .contexts = {}};
  for (Allowed& allowed : baseline.allowed) allowed.reason.clear();
  for (const profile::MetricInfo& info : profile::kMetrics) {
    if (profile::has_metric(profile, info.metric)) baseline.metrics.push_back(info.metric);
  }
  const std::vector<profile::Sum> sums = profile::sums_by_method(profile);
  for (std::uint32_t i = 1; i < sums.size(); ++i) {
    if (is_large(sums[i].total, baseline, baseline.metrics))
      baseline.methods.push_back({profile.full_name(MethodId(i)), sums[i]});
  }
  std::sort(baseline.methods.begin(), baseline.methods.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  Folding(profile, limits, baseline).run();
  return baseline;
}

}  // namespace sonde::gate
