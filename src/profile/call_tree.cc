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
}

void CallTree::push(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, std::uint64_t node_calls,
                    std::uint64_t node_bytecodes) {
  depth.push_back(node_depth);
  method.push_back(node_method);
  line.push_back(node_line);
  calls.push_back(node_calls);
  bytecodes.push_back(node_bytecodes);
}

void CallTree::push_sampled(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line,
                            const Sampled& values) {
  const std::size_t node = size();
  push(node_depth, node_method, node_line, 0, 0);
  const auto put = [&](std::vector<std::uint64_t>& column, std::uint64_t value) {
    column.resize(node);  // what came before was not sampled
    column.push_back(value);
  };
  put(samples, values.samples);
  put(cpu_ns, values.cpu_ns);
  put(wall_ns, values.wall_ns);
  put(activations, values.activations);
}

Result<void> CallTree::seal() {
  const auto count = static_cast<std::uint32_t>(size());
  for (std::vector<std::uint64_t>* column : {&samples, &cpu_ns, &wall_ns, &activations}) column->resize(count);
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
