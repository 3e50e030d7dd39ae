// SPDX-License-Identifier: Apache-2.0
#include "agent/session/chunk_pool.h"

#include <algorithm>
#include <bit>

namespace sonde::agent {

arena::ChunkHeader* ChunkPool::take(std::uint32_t tree, std::uint64_t wanted, std::uint64_t needed) {
  const auto class_of = [](std::uint64_t size) { return static_cast<unsigned>(std::bit_width(size - 1)); };
  const unsigned smallest = class_of(needed + sizeof(arena::ChunkHeader));
  const unsigned best = std::max(smallest, class_of(wanted));
  for (const unsigned size_class : {best, smallest}) {
    if (arena::ChunkHeader* chunk = take_free(size_class, tree)) return chunk;
    if (arena::ChunkHeader* chunk = take_new(size_class, tree)) return chunk;
  }
  // Better one that is too large than none.
  for (unsigned size_class = smallest; size_class < kClasses; ++size_class) {
    if (arena::ChunkHeader* chunk = take_free(size_class, tree)) return chunk;
  }
  return nullptr;
}

arena::ChunkHeader* ChunkPool::take_free(unsigned size_class, std::uint32_t tree) {
  std::vector<arena::ChunkHeader*>& free = free_[size_class];
  if (free.empty()) return nullptr;
  arena::ChunkHeader* chunk = free.back();
  free.pop_back();
  chunk->tree = tree;
  return chunk;
}

arena::ChunkHeader* ChunkPool::take_new(unsigned size_class, std::uint32_t tree) {
  if (size_class >= refused_) return nullptr;
  const std::uint64_t size = (std::uint64_t{1} << size_class) - sizeof(arena::ChunkHeader);
  arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kTree, tree, size);
  if (chunk == nullptr) refused_ = size_class;
  return chunk;
}

void ChunkPool::give_back(arena::ChunkHeader* chunk) {
  free_[static_cast<unsigned>(std::bit_width(chunk->size - 1))].push_back(chunk);
}

}  // namespace sonde::agent
