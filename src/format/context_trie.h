// SPDX-License-Identifier: Apache-2.0
// Contexts put together from anywhere: what is reached through the same steps is one node. Children stay in the order
// in which they came. What a step stands for (a thread, a method, a call site) and what is known of a node is the
// caller's.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::format {

class ContextTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  ContextTrie() { nodes_.push_back({}); }

  // The node that `step` leads to; made if it was not there. Numbers of nodes count up from 1.
  Node child(Node parent, std::uint64_t step) {
    const auto [it, is_new] = index_.try_emplace({.parent = parent, .step = step}, static_cast<Node>(nodes_.size()));
    if (!is_new) return it->second;
    const Node node = it->second;
    nodes_.push_back({.step = step});
    Node& last = nodes_[parent].last_child;
    (last == 0 ? nodes_[parent].first_child : nodes_[last].next_sibling) = node;
    last = node;
    return node;
  }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }  // with the root
  [[nodiscard]] std::uint64_t step_to(Node node) const { return nodes_[node].step; }

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
    std::uint64_t step = 0;
    Node first_child = 0;
    Node last_child = 0;
    Node next_sibling = 0;
  };
  struct Key {
    Node parent;
    std::uint64_t step;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h = (key.step ^ std::uint64_t{key.parent} << 32) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
      return (h + key.parent) * 0xbf58476d1ce4e5b9ULL;
    }
  };

  std::vector<Links> nodes_;
  std::unordered_map<Key, Node, Hash> index_;
};

}  // namespace sonde::format
