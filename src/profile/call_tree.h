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

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace sonde::profile {

using MethodId = Id<struct MethodTag, std::uint32_t>;  // index into Profile::methods
using NodeId = Id<struct NodeTag, std::uint32_t>;      // index into CallTree

enum class Metric : std::uint8_t { kCalls, kBytecodes, kSamples, kCpuNs, kWallNs };

struct CallTree {
  std::vector<std::uint32_t> depth;
  std::vector<MethodId> method;
  std::vector<std::uint16_t> line;  // of the call, in the caller's source file; 0 if unknown
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> bytecodes;    // executed by the method itself; of mode bytecode an estimate
  std::vector<std::uint64_t> samples;      // of mode bytecode, or of CPU time, with the method on top of the stack
  std::vector<std::uint64_t> cpu_ns;       // that samples stand for
  std::vector<std::uint64_t> wall_ns;      // of wall-clock samples, which have trees of their own
  std::vector<std::uint64_t> activations;  // samples of either kind that saw it where the one before did not
  std::vector<std::uint32_t> end;          // derived by seal()

  [[nodiscard]] std::size_t size() const { return depth.size(); }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t node) const { return end[node]; }
  [[nodiscard]] const std::vector<std::uint64_t>& values(Metric metric) const {
    switch (metric) {
      case Metric::kCalls: return calls;
      case Metric::kBytecodes: return bytecodes;
      case Metric::kCpuNs: return cpu_ns;
      case Metric::kWallNs: return wall_ns;
      case Metric::kSamples: break;
    }
    return samples;
  }

  void reserve(std::size_t nodes);
  void push(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, std::uint64_t node_calls,
            std::uint64_t node_bytecodes, std::uint64_t node_samples = 0);
  struct Sampled {
    std::uint64_t samples = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t wall_ns = 0;
    std::uint64_t activations = 0;
  };
  void push_sampled(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, const Sampled& values);
  // Checks that the depths are those of a tree and derives `end`. To be called once all nodes are there.
  Result<void> seal();
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
