// SPDX-License-Identifier: Apache-2.0
// All call trees of a recording as one table in preorder, a column per fact. The number of a node is its place in that
// order, so the subtree of n is the range [n, end_of(n)), and a loop over it meets callers before their callees.
//
//   node  depth  method        node  depth  method
//   0     0      (thread)      4     0      (thread)      depth 0: the root of a thread's tree, has no method
//   1     1      main          5     1      run           depth 1: what the thread itself started
//   2     2      parse
//   3     2      print
//
// Callees of one caller with the same method but other call sites are nodes of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "profile/metric.h"

namespace sonde::profile {

using MethodId = Id<struct MethodTag, std::uint32_t>;  // index into Profile::methods
using NodeId = Id<struct NodeTag, std::uint32_t>;      // index into CallTree

struct CallTree {
  std::vector<std::uint32_t> depth;
  std::vector<MethodId> method;
  std::vector<std::uint16_t> line;         // of the call, in the caller's source file; 0 if unknown
  std::vector<std::uint64_t> activations;  // samples of any kind that saw it where the one before did not; or empty
  std::vector<std::uint32_t> end;          // derived by seal()

  [[nodiscard]] std::size_t size() const { return depth.size(); }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t node) const { return end[node]; }

  // What the method itself has in each context; empty if nothing of the metric was recorded.
  [[nodiscard]] std::span<const std::uint64_t> values(Metric metric) const { return columns_[index_of(metric)]; }
  [[nodiscard]] std::uint64_t value(Metric metric, std::uint32_t node) const {
    const auto column = values(metric);
    return column.empty() ? 0 : column[node];
  }
  [[nodiscard]] Amounts amounts_of(std::uint32_t node) const {
    Amounts amounts;
    for (const MetricInfo& info : kMetrics) amounts.of(info.metric) = value(info.metric, node);
    return amounts;
  }
  // To be filled: as long as the tree, new places are zeros.
  std::vector<std::uint64_t>& column(Metric metric) {
    columns_[index_of(metric)].resize(size());
    return columns_[index_of(metric)];
  }

  void reserve(std::size_t nodes);
  void push(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, const Amounts& self = {});
  void push_root() { push(0, MethodId(0), 0); }
  // Checks that the depths are those of a tree, derives `end` and drops columns of zeros. To be called once all nodes
  // are there.
  Result<void> seal();

 private:
  std::array<std::vector<std::uint64_t>, kMetricCount> columns_;  // each empty, or as long as the tree
};

// Sums over ranges of nodes, in constant time each: with a subtree's range, its total.
class PrefixSums {
 public:
  explicit PrefixSums(std::span<const std::uint64_t> values);
  [[nodiscard]] std::uint64_t between(std::uint32_t begin, std::uint32_t end) const {
    return sums_[end] - sums_[begin];
  }

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace sonde::profile
