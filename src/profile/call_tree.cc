// SPDX-License-Identifier: Apache-2.0
#include "profile/call_tree.h"

#include <algorithm>
#include <string>

namespace sonde::profile {

void CallTree::reserve(std::size_t nodes) {
  depth.reserve(nodes);
  method.reserve(nodes);
  line.reserve(nodes);
}

void CallTree::push(std::uint32_t node_depth, MethodId node_method, std::uint16_t node_line, const Amounts& self) {
  depth.push_back(node_depth);
  method.push_back(node_method);
  line.push_back(node_line);
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (self.values[i] == 0 && columns_[i].empty()) continue;
    columns_[i].resize(size());
    columns_[i].back() = self.values[i];
  }
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
  if (!activations.empty()) activations.resize(size());  // trees without samples may follow
  for (std::vector<std::uint64_t>& column : columns_) {
    if (std::ranges::all_of(column, [](std::uint64_t value) { return value == 0; })) column = {};
  }
  return {};
}

PrefixSums::PrefixSums(std::span<const std::uint64_t> values) : sums_(values.size() + 1) {
  for (std::size_t i = 0; i < values.size(); ++i) sums_[i + 1] = sums_[i] + values[i];
}

}  // namespace sonde::profile
