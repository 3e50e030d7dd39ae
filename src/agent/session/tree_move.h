// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that ends. Moves all counts of a member's call tree to the tree of its group, so
// that each is in one of the two at any moment (arena::Move).
#pragma once

#include <cstdint>
#include <vector>

#include "agent/session/method_table.h"
#include "agent/session/tree_writer.h"
#include "arena/writer.h"

namespace sonde::agent {

class TreeMove {
 public:
  TreeMove(const arena::Writer& arena, const MethodTable& methods, arena::TreeHeader& group, ExtraIndex& extras,
           TreeWriter::Grow grow)
      : arena_(arena), methods_(methods), group_(group), to_(arena, group, extras, std::move(grow)) {}

  // Nobody else may write to one of the trees. False if the arena is full: then the rest stays where it is.
  bool run(arena::TreeHeader& member);

 private:
  struct Pair {
    arena::Node* from;
    arena::Node* to;
  };

  bool move_callees(const Pair& nodes);
  bool move_callee(arena::CallSite& from, arena::Node& caller, std::uint32_t site_index);
  void move_counts(std::uint64_t* from, std::uint64_t* to);
  template <typename T>
  [[nodiscard]] T* at(std::uint64_t address) const {
    return static_cast<T*>(arena_.pointer(address));
  }

  const arena::Writer& arena_;
  const MethodTable& methods_;
  arena::TreeHeader& group_;
  TreeWriter to_;
  std::vector<Pair> pending_;
};

}  // namespace sonde::agent
