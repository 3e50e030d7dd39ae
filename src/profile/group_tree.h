// SPDX-License-Identifier: Apache-2.0
// The call tree of a group of threads: contexts with the same callers, call sites and methods become one, in whichever
// of the arena's trees they are.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "arena/reader.h"

namespace sonde::profile {

class GroupTree {
 public:
  // All contexts of one tree, in preorder.
  void add(const std::vector<arena::Context>& contexts);

  // In preorder; callees of one caller in the order of their call sites.
  void visit(const std::function<void(const arena::Context&)>& visit) const;

 private:
  struct Key {
    std::uint32_t caller;
    std::uint32_t method_id;
    std::uint32_t site_index;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t word = (std::uint64_t{key.caller} << 32 | key.method_id) + key.site_index;
      return static_cast<std::size_t>(word * 0x9e3779b97f4a7c15ULL >> 16);
    }
  };
  struct Node {
    arena::Context context;
    std::vector<std::uint32_t> callees;
  };

  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0] is the root
  std::unordered_map<Key, std::uint32_t, Hash> by_key_;
};

}  // namespace sonde::profile
