// SPDX-License-Identifier: Apache-2.0
#include "profile/call_tree.h"

#include <string>

namespace sonde::profile {

void CallTree::reserve(std::size_t nodes) {
  depth.reserve(nodes);
  method.reserve(nodes);
  line.reserve(nodes);
  calls.reserve(nodes);
  bytecodes.reserve(nodes);
  samples.reserve(nodes);
  cpu_ns.reserve(nodes);
  wall_ns.reserve(nodes);
  activations.reserve(nodes);
}

void CallTree::push(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, std::uint64_t node_calls,
                    std::uint64_t node_bytecodes, std::uint64_t node_samples) {
  depth.push_back(node_depth);
  method.push_back(node_method);
  line.push_back(node_line);
  calls.push_back(node_calls);
  bytecodes.push_back(node_bytecodes);
  samples.push_back(node_samples);
  cpu_ns.push_back(0);
  wall_ns.push_back(0);
  activations.push_back(0);
}

void CallTree::push_sampled(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line,
                            const Sampled& values) {
  push(node_depth, node_method, node_line, 0, 0, values.samples);
  cpu_ns.back() = values.cpu_ns;
  wall_ns.back() = values.wall_ns;
  activations.back() = values.activations;
}

Result<void> CallTree::seal() {
  const auto count = static_cast<std::uint32_t>(size());
  end.assign(count, count);
  std::vector<std::uint32_t> open;  // the path to the current node
  for (std::uint32_t node = 0; node < count; ++node) {
    if (depth[node] > open.size()) {
      return Error{ErrorCode::kMalformed,
                   "node " + std::to_string(node) + " has no caller at depth " + std::to_string(depth[node] - 1)};
    }
    while (open.size() > depth[node]) {
      end[open.back()] = node;
      open.pop_back();
    }
    open.push_back(node);
  }
  return {};
}

PrefixSums::PrefixSums(std::span<const std::uint64_t> values) : sums_(values.size() + 1) {
  for (std::size_t i = 0; i < values.size(); ++i) sums_[i + 1] = sums_[i] + values[i];
}

}  // namespace sonde::profile
