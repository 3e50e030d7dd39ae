// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that ends. Moves all counts of a member's call tree to the tree of its group, so
// that each is in one of the two at any moment (arena::Move).
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "agent/session/method_table.h"
#include "arena/writer.h"

namespace sonde::agent {

// The ExtraCallSites of a group's tree: a site may have thousands of callees.
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

class TreeMove {
 public:
  using Grow = std::function<bool(std::uint32_t size)>;  // another chunk for the group's tree

  TreeMove(const arena::Writer& arena, const MethodTable& methods, arena::TreeHeader& group, ExtraIndex& extras,
           Grow grow)
      : arena_(arena), methods_(methods), group_(group), extras_(extras), grow_(std::move(grow)) {}

  // Nobody else may write to one of the trees. False if the arena is full: then the rest stays where it is.
  bool run(arena::TreeHeader& member);

 private:
  struct Pair {
    arena::Node* from;
    arena::Node* to;
  };

  bool move_callees(const Pair& nodes);
  bool move_callee(arena::CallSite& from, arena::Node& caller, std::uint32_t site_index);
  // A new record for a callee, and its node if `callee` is not null.
  arena::CallSite* add(arena::Node& caller, arena::CallSite& site, std::int32_t method_id, const arena::Node* callee);
  void move_counts(std::uint64_t* from, std::uint64_t* to);
  void* allocate(std::uint64_t size);
  template <typename T>
  [[nodiscard]] T* at(std::uint64_t address) const {
    return static_cast<T*>(arena_.pointer(address));
  }

  const arena::Writer& arena_;
  const MethodTable& methods_;
  arena::TreeHeader& group_;
  ExtraIndex& extras_;
  Grow grow_;
  std::vector<Pair> pending_;
};

}  // namespace sonde::agent
