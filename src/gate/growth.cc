// SPDX-License-Identifier: Apache-2.0
#include "gate/growth.h"

#include <algorithm>

#include "gate/match.h"

namespace sonde::gate {

using profile::DiffTree;
using profile::MethodId;
using profile::Metric;
using profile::Profile;
using profile::Sum;

namespace {

constexpr std::uint32_t kNone = DiffTree::kNone;

std::vector<std::string> full_names(const Profile& profile) {
  std::vector<std::string> names;
  names.reserve(profile.methods.size());
  for (std::uint32_t i = 0; i < profile.methods.size(); ++i) names.push_back(profile.full_name(MethodId(i)));
  return names;
}

}  // namespace

Growth::Growth(const Baseline& baseline, const Profile& profile) : baseline_(baseline) {
  std::vector<profile::Labels> labels = profile::Labels::joint({full_names(baseline.contexts), full_names(profile)});
  tree_ = {profile::merged_tree(baseline.contexts, baseline.contexts.all_threads(), labels[0]),
           profile::merged_tree(profile, profile.all_threads(), labels[1])};
  labels_ = std::move(labels[1]);
}

bool Growth::matches(std::uint32_t node, const std::vector<std::string>& patterns) const {
  if (!name_matches(patterns.back(), labels_.text(tree_.nodes[node].label))) return false;
  std::vector<std::string_view> frames;
  for (; node != kNone; node = tree_.nodes[node].parent) frames.emplace_back(labels_.text(tree_.nodes[node].label));
  std::reverse(frames.begin(), frames.end());
  return path_matches(patterns, frames);
}

ContextSums Growth::sums_of(const std::vector<std::string>& patterns, Of of) const {
  ContextSums sums;
  std::uint32_t counted_to = 0;
  for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
    const DiffTree::Node& node = tree_.nodes[i];
    if ((of == Of::kTotal && i < counted_to) || !matches(i, patterns)) continue;
    counted_to = node.end;
    sums.before += of == Of::kSelf ? node.a.self : node.a.total;
    sums.now += of == Of::kSelf ? node.b.self : node.b.total;
    sums.is_in_baseline |= node.a != Sum{};
  }
  return sums;
}

std::int64_t Growth::growth_of(std::uint32_t node, Metric metric, Of of) const {
  const DiffTree::Node& n = tree_.nodes[node];
  const std::uint64_t now = (of == Of::kSelf ? n.b.self : n.b.total).of(metric);
  const std::uint64_t before =
      n.a == Sum{} ? std::min(now, baseline_.fold_bound(metric)) : (of == Of::kSelf ? n.a.self : n.a.total).of(metric);
  return static_cast<std::int64_t>(now - before);
}

void Growth::descend(std::uint32_t begin, std::uint32_t end, std::int64_t growth, Metric metric,
                     std::vector<std::uint32_t>& path) const {
  while (begin < end) {
    std::uint32_t best = kNone;
    std::int64_t most = 0;
    for (std::uint32_t child = begin; child < end; child = tree_.nodes[child].end) {
      if (const std::int64_t g = growth_of(child, metric, Of::kTotal); g > most) {
        most = g;
        best = child;
      }
    }
    if (best == kNone || most < growth / 2) return;
    path.push_back(best);
    growth = most;
    begin = best + 1;
    end = tree_.nodes[best].end;
  }
}

std::vector<Frame> Growth::frames_of(const std::vector<std::uint32_t>& path, Metric metric) const {
  std::vector<Frame> frames;
  frames.reserve(path.size());
  for (const std::uint32_t node : path) {
    frames.push_back(
        {.name = display_name(labels_.text(tree_.nodes[node].label)), .growth = growth_of(node, metric, Of::kTotal)});
  }
  return frames;
}

std::vector<Frame> Growth::path_of_all(Metric metric) const {
  std::vector<std::uint32_t> path;
  descend(0, static_cast<std::uint32_t>(tree_.nodes.size()), 0, metric, path);
  return frames_of(path, metric);
}

std::vector<Frame> Growth::path_of_greatest(const IsChosen& is_chosen, Metric metric, Of of) const {
  std::uint32_t best = kNone;
  std::pair<std::int64_t, std::uint64_t> most{};  // growth, then size: all may be too small for the baseline
  for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
    if (!is_chosen(i)) continue;
    const std::pair key(growth_of(i, metric, of), tree_.nodes[i].b.total.of(metric));
    if (best == kNone || key > most) {
      most = key;
      best = i;
    }
  }
  std::vector<std::uint32_t> path;
  for (std::uint32_t node = best; node != kNone; node = tree_.nodes[node].parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  if (best != kNone && of == Of::kTotal) descend(best + 1, tree_.nodes[best].end, most.first, metric, path);
  return frames_of(path, metric);
}

std::vector<Frame> Growth::path_of_method(std::string_view full_name, Metric metric, Of of) const {
  return path_of_greatest([&](std::uint32_t node) { return labels_.text(tree_.nodes[node].label) == full_name; },
                          metric, of);
}

std::vector<Frame> Growth::path_of_context(const std::vector<std::string>& patterns, Metric metric, Of of) const {
  return path_of_greatest([&](std::uint32_t node) { return matches(node, patterns); }, metric, of);
}

}  // namespace sonde::gate
