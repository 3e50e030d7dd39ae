// SPDX-License-Identifier: Apache-2.0
#include "profile/diff.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde::profile {
namespace {

const Sum kNothing = {};

bool comes_before(const MergedTree::Node& x, const MergedTree::Node& y) {
  return x.depth != y.depth ? x.depth > y.depth : x.label < y.label;
}

}  // namespace

DiffTree::DiffTree(MergedTree merged_a, MergedTree merged_b) : a_(std::move(merged_a)), b_(std::move(merged_b)) {
  // Both lists are in preorder with children in the order of labels. The deeper of two nodes is still inside a subtree
  // that the other list has left or never had, so it comes first; of equally deep ones the smaller label does.
  const std::vector<MergedTree::Node>& a = a_.nodes;
  const std::vector<MergedTree::Node>& b = b_.nodes;
  nodes.reserve(std::max(a.size(), b.size()));
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool is_in_a = j == b.size() || (i < a.size() && !comes_before(b[j], a[i]));
    const bool is_in_b = i == a.size() || (j < b.size() && !comes_before(a[i], b[j]));
    add(is_in_a ? a[i] : b[j], is_in_a ? a[i].sum : kNothing, is_in_b ? b[j].sum : kNothing);
    i += is_in_a ? 1 : 0;
    j += is_in_b ? 1 : 0;
  }
  close_to(0);
}

void DiffTree::add(const MergedTree::Node& node, const Sum& a, const Sum& b) {
  close_to(node.depth);
  const std::uint32_t parent = open_.empty() ? kNone : open_.back();
  open_.push_back(static_cast<std::uint32_t>(nodes.size()));
  nodes.push_back({.depth = node.depth, .label = node.label, .end = 0, .parent = parent, .a = a, .b = b});
}

void DiffTree::close_to(std::size_t depth) {
  for (; open_.size() > depth; open_.pop_back()) nodes[open_.back()].end = static_cast<std::uint32_t>(nodes.size());
}

PathOfChange path_of_change(const DiffTree& tree, const Comparison& comparison) {
  const auto count = static_cast<std::uint32_t>(tree.nodes.size());
  std::vector<double> before(count + 1);  // change of all nodes before one
  for (std::uint32_t i = 0; i < count; ++i) {
    const DiffTree::Node& node = tree.nodes[i];
    const bool counts = comparison.is_significant(node.a.self, node.b.self);
    before[i + 1] = before[i] + (counts ? std::abs(comparison.change(node.a.self, node.b.self)) : 0);
  }
  PathOfChange path;
  std::uint32_t begin = 0;
  std::uint32_t end = count;
  double whole = before[count];
  while (begin < end) {
    std::uint32_t best = begin;
    double most = -1;
    for (std::uint32_t child = begin; child < end; child = tree.nodes[child].end) {
      const double change = before[tree.nodes[child].end] - before[child];
      if (change > most) {
        most = change;
        best = child;
      }
    }
    if (most <= 0 || (!path.nodes.empty() && most < whole / 2)) break;
    path.nodes.push_back(best);
    path.share = most / before[count];
    whole = most;
    begin = best + 1;
    end = tree.nodes[best].end;
  }
  return path;
}

std::vector<DiffRow> diff_by(const Side& a, const Side& b, Grouping grouping) {
  std::map<std::string, DiffRow> rows;
  const auto row_of = [&](const Profile& profile, const SumRow& row) -> DiffRow& {
    std::string key = name_in(profile, row.method, grouping);
    return rows.try_emplace(key, DiffRow{.name = key, .in_a = {}, .in_b = {}, .a = {}, .b = {}}).first->second;
  };
  for (const SumRow& row : sums_by(a.profile, a.threads, grouping)) {
    DiffRow& diff = row_of(a.profile, row);
    diff.a = row.sum;
    diff.in_a = row.method;
  }
  for (const SumRow& row : sums_by(b.profile, b.threads, grouping)) {
    DiffRow& diff = row_of(b.profile, row);
    diff.b = row.sum;
    diff.in_b = row.method;
  }
  std::vector<DiffRow> result;
  result.reserve(rows.size());
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

}  // namespace sonde::profile
