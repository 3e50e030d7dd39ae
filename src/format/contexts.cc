// SPDX-License-Identifier: Apache-2.0
#include "format/contexts.h"

#include <algorithm>

namespace sonde::format {

MethodOrder::MethodOrder(const profile::Profile& profile)
    : labels_(profile, [&](profile::MethodId m) { return profile.full_name(m); }), methods_(labels_.size()) {
  for (std::uint32_t i = 0; i < profile.methods.size(); ++i) {
    methods_[labels_.label_of(profile::MethodId(i))] = profile::MethodId(i);
  }
}

namespace {

// Depth first without recursion. The stack holds groups of equal siblings; their nodes lie in a second stack in the
// same order, so the group on top has its nodes on top.
class ContextMerge {
 public:
  ContextMerge(const profile::CallTree& tree, const MethodOrder& order, std::span<const profile::MetricInfo> types,
               CallSites call_sites)
      : tree_(tree), order_(order), keeps_lines_(call_sites == CallSites::kKeep) {
    for (const profile::MetricInfo& type : types) columns_.push_back(tree.values(type.metric));
    result_.values.resize(types.size());
  }

  Contexts run(std::span<const profile::Thread* const> threads) {
    for (const profile::Thread* thread : threads) add_children(thread->first_node);
    push_groups(0);
    while (!groups_.empty()) take_top();
    return std::move(result_);
  }

 private:
  // Orders siblings by name, then line.
  using Key = std::uint64_t;
  struct Group {
    std::uint32_t depth;
    std::uint32_t count;
    Key key;
  };
  struct Child {
    Key key;
    std::uint32_t node;
  };

  void take_top() {
    const Group group = groups_.back();
    groups_.pop_back();
    result_.depth.push_back(group.depth);
    result_.method.push_back(order_.method(static_cast<std::uint32_t>(group.key >> 16)));
    result_.line.push_back(static_cast<std::uint16_t>(group.key));
    const std::size_t begin = nodes_.size() - group.count;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      std::uint64_t sum = 0;
      if (!columns_[column].empty()) {
        for (std::size_t i = begin; i < nodes_.size(); ++i) sum += columns_[column][nodes_[i]];
      }
      result_.values[column].push_back(sum);
    }
    for (std::size_t i = begin; i < nodes_.size(); ++i) add_children(nodes_[i]);
    nodes_.resize(begin);
    push_groups(group.depth + 1);
  }

  void add_children(std::uint32_t node) {
    for (std::uint32_t child = node + 1; child < tree_.end_of(node); child = tree_.end_of(child)) {
      const Key line = keeps_lines_ ? tree_.line[child] : 0;
      children_.push_back({.key = Key{order_.place_of(tree_.method[child])} << 16 | line, .node = child});
    }
  }

  void push_groups(std::uint32_t depth) {
    // Greatest first, so that the smallest ends on top. Equal ones in any order: they are summed.
    std::ranges::sort(children_, [](const Child& a, const Child& b) { return a.key > b.key; });
    for (std::size_t i = 0; i < children_.size(); ++i) {
      nodes_.push_back(children_[i].node);
      if (i != 0 && children_[i - 1].key == children_[i].key) {
        ++groups_.back().count;
      } else {
        groups_.push_back({.depth = depth, .count = 1, .key = children_[i].key});
      }
    }
    children_.clear();
  }

  const profile::CallTree& tree_;
  const MethodOrder& order_;
  const bool keeps_lines_;
  std::vector<std::span<const std::uint64_t>> columns_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Child> children_;
  Contexts result_;
};

}  // namespace

Contexts contexts_of(const profile::Profile& profile, const MethodOrder& order,
                     std::span<const profile::Thread* const> threads, std::span<const profile::MetricInfo> types,
                     CallSites call_sites) {
  return ContextMerge(profile.tree, order, types, call_sites).run(threads);
}

}  // namespace sonde::format
