// SPDX-License-Identifier: Apache-2.0
// Context: [agent], under the lock of its owner. Overflow nodes: where threads count when the arena is full. Their
// pages (arena::OverflowPage) are set aside while there is room, so that a full disk does not take them, and lie in the
// arena, so that they outlive the process.
#pragma once

#include <cstdint>
#include <vector>

#include "arena/writer.h"

namespace sonde::agent {

class OverflowPool {
 public:
  explicit OverflowPool(arena::Writer& arena) : arena_(arena) {}

  // Sets pages aside; false if there is no room.
  bool reserve(std::uint64_t pages);

  // The address of an overflow node as SondeRT knows it; 0 if there is no page left. For tree 0: a thread without one.
  std::uint64_t take(std::uint32_t tree_id);

 private:
  arena::Writer& arena_;
  std::vector<arena::OverflowPage*> free_;
};

}  // namespace sonde::agent
