// SPDX-License-Identifier: Apache-2.0
// Context: [agent], under the lock of its owner. Memory for call trees: chunks whose sizes are powers of two, and those
// that trees gave back.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arena/writer.h"

namespace sonde::agent {

class ChunkPool {
 public:
  static constexpr std::uint64_t kLargest = 1 << 20;  // unless a single node needs more

  explicit ChunkPool(arena::Writer& arena) : arena_(arena) {}

  // A zeroed chunk with at least `needed` bytes behind its header; its size is `wanted` if that is possible. Null if
  // the arena is full.
  arena::ChunkHeader* take(std::uint32_t tree, std::uint64_t wanted, std::uint64_t needed);
  // It must be zeroed behind its header.
  void give_back(arena::ChunkHeader* chunk);

 private:
  static constexpr unsigned kClasses = 40;  // powers of two

  arena::ChunkHeader* take_free(unsigned size_class, std::uint32_t tree);
  arena::ChunkHeader* take_new(unsigned size_class, std::uint32_t tree);

  arena::Writer& arena_;
  std::array<std::vector<arena::ChunkHeader*>, kClasses> free_;
  unsigned refused_ = kClasses;  // the arena has no room for a chunk of this class
};

}  // namespace sonde::agent
