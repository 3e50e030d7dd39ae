// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. A call tree of exact counting as a user-written agent sees it, in the process that writes it. The
// tree's thread waits or goes on, but it has not ended: what is there stays there, and what comes is published.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/session/method_names.h"
#include "arena/writer.h"

namespace sonde::agent {

class TreeView {
 public:
  struct Callee {
    std::uint64_t record;  // address of its CallSite or ExtraCallSite
    std::uint64_t node;    // address, 0 if it has none
    std::uint32_t method_id;
    std::uint16_t line;  // of the call, 0 if unknown
    std::uint64_t calls;
    std::uint64_t bytecodes;
  };

  TreeView(const arena::Writer& arena, const MethodNames& names) : arena_(arena), names_(names) {}

  // Of the node at this address; 0 for the root. In the order of call sites.
  [[nodiscard]] std::vector<Callee> callees(std::uint64_t tree, std::uint64_t node) const;
  // The records that lead from the root to the node that has this call site. Empty if the site is in no node.
  [[nodiscard]] std::vector<std::uint64_t> path_to(std::uint64_t tree, std::uint64_t site) const;

 private:
  template <typename T>
  [[nodiscard]] const T* at(std::uint64_t address) const {
    return static_cast<const T*>(arena_.pointer(address));
  }
  void add(std::uint64_t record, std::uint16_t line, std::vector<Callee>& callees) const;
  [[nodiscard]] std::uint64_t node_of(std::uint64_t site) const;

  const arena::Writer& arena_;
  const MethodNames& names_;
};

}  // namespace sonde::agent
