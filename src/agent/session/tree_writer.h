// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Adds contexts to a call tree, as SondeTree does in Java; nobody else may write to the tree. The
// host may read at any moment: what it can reach is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "arena/writer.h"

namespace sonde::agent {

// The ExtraCallSites of a tree: a site may have thousands of callees.
class ExtraIndex {
 public:
  // Null if there is none.
  [[nodiscard]] arena::CallSite*& at(const arena::CallSite* site, std::int32_t method_id) {
    return records_[{.site = site, .method_id = method_id}];
  }

 private:
  struct Key {
    const arena::CallSite* site;
    std::int32_t method_id;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (reinterpret_cast<std::size_t>(key.site) / 8 + static_cast<std::size_t>(key.method_id) * 0x9e3779b1U) *
                 0x9e3779b97f4a7c15ULL >>
             16;
    }
  };
  std::unordered_map<Key, arena::CallSite*, Hash> records_;
};

class TreeWriter {
 public:
  using Grow = std::function<bool(std::uint32_t size)>;  // another chunk for the tree
  static constexpr std::uint32_t kNoNode = 0;            // sites of a callee that is counted at its call site

  TreeWriter(const arena::Writer& arena, arena::TreeHeader& tree, ExtraIndex& extras, Grow grow)
      : arena_(arena), tree_(tree), extras_(extras), grow_(std::move(grow)) {}

  [[nodiscard]] arena::Node& root() const { return *at<arena::Node>(tree_.root); }
  [[nodiscard]] static arena::CallSite* sites_of(arena::Node& node) {
    return reinterpret_cast<arena::CallSite*>(&node + 1);
  }
  [[nodiscard]] arena::Node& callee_of(const arena::CallSite& record) const { return *at<arena::Node>(record.child); }

  // The record of a callee at a call site of `caller`, with a node of so many sites; made if it is new. Null if the
  // arena is full.
  arena::CallSite* find_or_add(arena::Node& caller, std::uint32_t site_index, std::int32_t method_id,
                               std::uint32_t site_count);

 private:
  arena::CallSite* add(arena::Node& caller, arena::CallSite& site, std::int32_t method_id, std::uint32_t site_count);
  void* allocate(std::uint64_t size);
  template <typename T>
  [[nodiscard]] T* at(std::uint64_t address) const {
    return static_cast<T*>(arena_.pointer(address));
  }

  const arena::Writer& arena_;
  arena::TreeHeader& tree_;
  ExtraIndex& extras_;
  Grow grow_;
};

}  // namespace sonde::agent
