// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sonde::profile {

Labels::Labels(const Profile& profile, const std::function<std::string(MethodId)>& text_of) {
  const auto count = static_cast<std::uint32_t>(profile.methods.size());
  std::vector<std::string> texts(count);
  for (std::uint32_t i = 0; i < count; ++i) texts[i] = text_of(MethodId(i));
  *this = std::move(joint({std::move(texts)}).front());
}

std::vector<Labels> Labels::joint(const std::vector<std::vector<std::string>>& texts_by_method) {
  std::vector<Labels> result;
  std::vector<std::pair<const std::string*, std::uint32_t*>> all;  // each text, and where its label goes
  for (const std::vector<std::string>& texts : texts_by_method) {
    result.push_back(Labels());
    result.back().label_.resize(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) all.emplace_back(&texts[i], &result.back().label_[i]);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return *a.first < *b.first; });
  std::vector<std::string> texts;
  for (const auto& [text, label] : all) {
    if (texts.empty() || texts.back() != *text) texts.push_back(*text);
    *label = static_cast<std::uint32_t>(texts.size() - 1);
  }
  for (Labels& labels : result) labels.texts_ = texts;
  return result;
}

namespace {

// Depth first without recursion. The stack holds groups of equal siblings; their nodes lie in a second stack in the
// same order, so the group on top has its nodes on top.
class Merge {
 public:
  Merge(const Profile& profile, const Labels& labels, const std::function<void(const MergedNode&)>& visit)
      : tree_(profile.tree), labels_(labels), visit_(visit) {}

  void run(const std::vector<const Thread*>& threads) {
    MergedNode none = {};
    for (const Thread* thread : threads) add_children(thread->first_node, none);
    push_groups(0);
    while (!groups_.empty()) visit_top();
  }

 private:
  struct Group {
    std::uint32_t depth;
    std::uint32_t label;
    std::uint32_t count;
  };
  struct Child {
    std::uint32_t label;
    std::uint32_t node;
  };

  void visit_top() {
    const Group group = groups_.back();
    groups_.pop_back();
    MergedNode merged = {.depth = group.depth, .label = group.label, .self = {}, .hidden = {}};
    const std::size_t begin = nodes_.size() - group.count;
    for (std::size_t i = begin; i < nodes_.size(); ++i) {
      merged.self += tree_.amounts_of(nodes_[i]);
      add_children(nodes_[i], merged);
    }
    nodes_.resize(begin);
    visit_(merged);
    push_groups(group.depth + 1);
  }

  // The nearest shown descendants; what lies between is added to `caller`.
  void add_children(std::uint32_t node, MergedNode& caller) {
    std::uint32_t child = node + 1;
    while (child < tree_.end_of(node)) {
      const std::uint32_t label = labels_.label_of(tree_.method[child]);
      if (label == Labels::kHidden) {
        caller.hidden += tree_.amounts_of(child);
        ++child;
      } else {
        children_.push_back({.label = label, .node = child});
        child = tree_.end_of(child);
      }
    }
  }

  void push_groups(std::uint32_t depth) {
    // Greatest label first, so that the smallest ends on top. Equal ones in any order: they are summed.
    std::sort(children_.begin(), children_.end(), [](const Child& a, const Child& b) { return a.label > b.label; });
    for (std::size_t i = 0; i < children_.size(); ++i) {
      nodes_.push_back(children_[i].node);
      if (i != 0 && children_[i - 1].label == children_[i].label) {
        ++groups_.back().count;
      } else {
        groups_.push_back({.depth = depth, .label = children_[i].label, .count = 1});
      }
    }
    children_.clear();
  }

  const CallTree& tree_;
  const Labels& labels_;
  const std::function<void(const MergedNode&)>& visit_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Child> children_;
};

}  // namespace

void merge(const Profile& profile, const std::vector<const Thread*>& threads, const Labels& labels,
           const std::function<void(const MergedNode&)>& visit) {
  Merge(profile, labels, visit).run(threads);
}

std::vector<ThreadGroup> threads_by_name(std::span<const Thread* const> threads) {
  std::map<std::string, std::vector<const Thread*>> groups;
  for (const Thread* thread : threads) groups[thread->display_name()].push_back(thread);
  std::vector<ThreadGroup> result;
  result.reserve(groups.size());
  for (auto& [name, of_name] : groups) result.push_back({.name = name, .threads = std::move(of_name)});
  return result;
}

}  // namespace sonde::profile
