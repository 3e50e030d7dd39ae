// SPDX-License-Identifier: Apache-2.0
// Two profiles side by side: by context, as one tree that has the nodes of both, and by method, class or package.
// Things are the same if their names are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profile/comparison.h"
#include "profile/merged_tree.h"

namespace sonde::profile {

// Of two merged trees with joint labels (Labels::joint).
class DiffTree {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::uint32_t depth;
    std::uint32_t label;
    std::uint32_t end;     // of its subtree, in `nodes`
    std::uint32_t parent;  // kNone: outermost
    const Sum& a;          // zeros: only in B
    const Sum& b;
  };
  std::vector<Node> nodes;  // preorder, children in the order of their labels

  DiffTree() = default;
  DiffTree(MergedTree a, MergedTree b);
  DiffTree(const DiffTree&) = delete;  // nodes refer to sums in the trees, which stay where they are in a move
  DiffTree& operator=(const DiffTree&) = delete;
  DiffTree(DiffTree&&) = default;
  DiffTree& operator=(DiffTree&&) = default;

 private:
  void add(const MergedTree::Node& node, const Sum& a, const Sum& b);
  void close_to(std::size_t depth);

  MergedTree a_;
  MergedTree b_;
  std::vector<std::uint32_t> open_;  // the path to the node that was added last
};

// Where most of the change is. The change of a subtree is what its contexts gained or lost themselves, added up without
// signs (so that work that moved does not hide), and without what may be noise.
struct PathOfChange {
  std::vector<std::uint32_t> nodes;  // from the outermost inwards; ends where no callee has most of what is left
  double share = 0;                  // of all change that is below its last node
};
PathOfChange path_of_change(const DiffTree& tree, const Comparison& comparison);

struct DiffRow {
  std::string name;  // as name_in (sums.h) has it
  std::optional<MethodId> in_a;
  std::optional<MethodId> in_b;
  Sum a;
  Sum b;
};

struct Side {
  const Profile& profile;
  std::vector<const Thread*> threads;
};
// By method, class or package, in the order of names (name_in of sums.h).
std::vector<DiffRow> diff_by(const Side& a, const Side& b, Grouping grouping);

}  // namespace sonde::profile
