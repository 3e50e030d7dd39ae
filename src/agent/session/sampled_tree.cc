// SPDX-License-Identifier: Apache-2.0
#include "agent/session/sampled_tree.h"

namespace sonde::agent {

using arena::CallSite;
using arena::Node;

std::uint64_t& SampledTree::add(std::uint64_t name, std::span<const std::uint32_t> callers, std::uint32_t first) {
  if (known_.size() >= kMostKnown) known_.clear();
  std::uint64_t& samples = at(callers, first);
  known_[name] = &samples;
  return samples;
}

std::uint64_t& SampledTree::at(std::span<const std::uint32_t> callers, std::uint32_t first) {
  // When the arena is full all further contexts are one.
  const auto overflow = [&]() -> std::uint64_t& {
    return static_cast<Node*>(arena_.pointer(tree_.overflow))->bytecodes;
  };
  Node* node = &writer_.root();
  std::uint32_t index = 0;
  for (const std::uint32_t number : callers) {
    const SiteTable::Row& row = sites_.row(number);
    const CallSite* record =
        writer_.find_or_add(*node, index, static_cast<std::int32_t>(row.method_id), row.site_count);
    if (record == nullptr) return overflow();
    node = &writer_.callee_of(*record);
    index = row.index;
    // The reader of the tree puts what a site with a native method calls under that method.
    const bool is_native = row.native_id != 0;
    if (is_native &&
        writer_.find_or_add(*node, index, static_cast<std::int32_t>(row.native_id), TreeWriter::kNoNode) == nullptr) {
      return overflow();
    }
  }
  const SiteTable::Row& row = sites_.row(first);
  CallSite* record = writer_.find_or_add(*node, index, static_cast<std::int32_t>(row.method_id), row.site_count);
  if (record == nullptr) return overflow();
  return row.site_count == TreeWriter::kNoNode ? record->bytecodes : writer_.callee_of(*record).bytecodes;
}

}  // namespace sonde::agent
