// SPDX-License-Identifier: Apache-2.0
#include "profile/focus.h"

#include <map>

namespace sonde::profile {
namespace {

class Focusing {
 public:
  Focusing(const Profile& profile, const std::vector<bool>& is_focused)
      : tree_(profile.tree), totals_(tree_), is_focused_(is_focused) {}

  Focus run(std::span<const Thread* const> threads) {
    for (const Thread* thread : threads) {
      for (std::uint32_t node = thread->first_node; node < thread->end_node; ++node) visit(node);
    }
    for (const auto& [method, neighbour] : callers_) result_.callers.push_back(neighbour);
    for (const auto& [method, callee] : callees_) result_.callees.push_back(callee.neighbour);
    return std::move(result_);
  }

 private:
  struct Callee {
    Neighbour neighbour;
    std::uint32_t counted_to = 0;  // nodes before this one are in the total already
  };

  [[nodiscard]] bool is_focused(std::uint32_t node) const { return is_focused_[tree_.method[node].value()]; }

  void visit(std::uint32_t node) {
    const std::uint32_t depth = tree_.depth[node];
    path_.resize(depth);
    path_.push_back(node);
    if (depth == 0) return;
    const std::uint32_t caller = path_[depth - 1];
    if (is_focused(node)) add_call(node, caller);
    if (is_focused(caller)) add_callee(node);
  }

  void add_call(std::uint32_t node, std::uint32_t caller) {
    Neighbour& neighbour =
        callers_.try_emplace(tree_.method[caller].value(), Neighbour{tree_.method[caller]}).first->second;
    neighbour.calls += tree_.value(Metric::kCalls, node);
    result_.sum.self += tree_.amounts_of(node);
    if (node < counted_to_) return;  // below another one
    counted_to_ = tree_.end_of(node);
    neighbour.total += totals_.of(node);
    result_.sum.total += totals_.of(node);
  }

  void add_callee(std::uint32_t node) {
    const MethodId method = tree_.method[node];
    Callee& callee = callees_.try_emplace(method.value(), Callee{.neighbour = {.method = method}}).first->second;
    callee.neighbour.calls += tree_.value(Metric::kCalls, node);
    if (node < callee.counted_to) return;
    callee.counted_to = tree_.end_of(node);
    callee.neighbour.total += totals_.of(node);
  }

  const CallTree& tree_;
  const Totals totals_;
  const std::vector<bool>& is_focused_;
  std::vector<std::uint32_t> path_;
  std::uint32_t counted_to_ = 0;
  std::map<std::uint32_t, Neighbour> callers_;
  std::map<std::uint32_t, Callee> callees_;
  Focus result_;
};

}  // namespace

Focus focus_on(const Profile& profile, std::span<const Thread* const> threads, const std::vector<bool>& is_focused) {
  return Focusing(profile, is_focused).run(threads);
}

}  // namespace sonde::profile
