// SPDX-License-Identifier: Apache-2.0
// Call trees of several threads, or contexts that differ in call sites only, put together: nodes that are reached
// through the same sequence of labels become one. What counts as the same label is the caller's choice.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profile/sums.h"

namespace sonde::profile {

// How methods are shown: a text per method, and an order of these texts.
class Labels {
 public:
  static constexpr std::uint32_t kHidden = ~std::uint32_t{0};

  Labels() = default;  // of no methods
  // `text_of` gives the label of a method; methods with equal labels are not told apart.
  Labels(const Profile& profile, const std::function<std::string(MethodId)>& text_of);

  // One per profile, from the texts of its methods: the same text has the same label in all of them.
  static std::vector<Labels> joint(const std::vector<std::vector<std::string>>& texts_by_method);

  [[nodiscard]] std::uint32_t label_of(MethodId method) const { return label_[method.value()]; }
  [[nodiscard]] const std::string& text(std::uint32_t label) const { return texts_[label]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

  // A hidden method leaves the stacks: its callees appear under its caller.
  void hide(MethodId method) { label_[method.value()] = kHidden; }

 private:
  std::vector<std::uint32_t> label_;  // by method; labels are numbered in the order of their texts
  std::vector<std::string> texts_;
};

struct MergedNode {
  std::uint32_t depth;  // 0 for the frame that is outermost
  std::uint32_t label;
  Amounts self;
  Amounts hidden;  // of hidden methods called from here, and by them, up to the next one that is shown
};

// Visits the merged tree in preorder, children in the order of their labels. What only hidden methods called is not
// visited under another name: it is part of `hidden` of its nearest caller that is shown, if there is one.
void merge(const Profile& profile, const std::vector<const Thread*>& threads, const Labels& labels,
           const std::function<void(const MergedNode&)>& visit);

// Threads with the same name, in the order of their names.
struct ThreadGroup {
  std::string name;
  std::vector<const Thread*> threads;
};
std::vector<ThreadGroup> threads_by_name(std::span<const Thread* const> threads);

}  // namespace sonde::profile
