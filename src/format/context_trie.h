// SPDX-License-Identifier: Apache-2.0
// Contexts put together from anywhere: what is reached through the same steps is one node. Children stay in the order
// in which they came. What a step stands for (a thread, a method, a call site) and what is known of a node is the
// caller's.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mix.h"
#include "base/numbering.h"

namespace sonde::format {

class ContextTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  ContextTrie() { nodes_.emplace_back(); }

  // The node that `step` leads to; made if it was not there. Numbers of nodes count up from 1.
  Node child(Node parent, std::uint64_t step) {
    const auto [number, is_new] = steps_.number_of({.step = step, .parent = parent});
    const Node node = number + 1;
    if (!is_new) return node;
    nodes_.emplace_back();
    Node& last = nodes_[parent].last_child;
    (last == 0 ? nodes_[parent].first_child : nodes_[last].next_sibling) = node;
    last = node;
    return node;
  }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }  // with the root
  [[nodiscard]] std::uint64_t step_to(Node node) const { return steps_.key(node - 1).step; }

  // visit(node, depth) in preorder, without the root; its children have depth 0.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::vector<Node> path;  // from depth 0 to the current node
    for (Node node = nodes_[kRoot].first_child; node != 0;) {
      visit(node, static_cast<std::uint32_t>(path.size()));
      if (nodes_[node].first_child != 0) {
        path.push_back(node);
        node = nodes_[node].first_child;
        continue;
      }
      while (nodes_[node].next_sibling == 0 && !path.empty()) {
        node = path.back();
        path.pop_back();
      }
      node = nodes_[node].next_sibling;
    }
  }

 private:
  struct Links {
    Node first_child = 0;
    Node last_child = 0;
    Node next_sibling = 0;
  };
  struct Step {
    std::uint64_t step;
    Node parent;
    bool operator==(const Step&) const = default;
  };
  struct Hash {
    std::uint64_t operator()(const Step& key) const { return mixed(key.step * 0x9e3779b97f4a7c15ULL + key.parent); }
  };

  std::vector<Links> nodes_;
  Numbering<Step, Hash> steps_;  // of the nodes from 1 on
};

}  // namespace sonde::format
