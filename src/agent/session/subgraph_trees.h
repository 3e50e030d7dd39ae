// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that enters a root or ends. Call trees of modes subgraph and region. Most
// threads have a tree of their own; of one kind, kThreadsOfAKind have, and the others use the trees that threads of
// their kind gave back: what is in them stays, and more is added.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/session/chunk_pool.h"
#include "arena/writer.h"

namespace sonde::agent {

class SubgraphTrees {
 public:
  explicit SubgraphTrees(arena::Writer& arena) : arena_(arena), chunks_(arena) {}

  // The address of a SubgraphTree as SondeSubgraph knows it; 0 if the arena is full.
  std::uint64_t lease(std::string_view thread_name, bool is_virtual);
  void release(std::uint64_t tree);
  // Another chunk with room for `size` bytes.
  bool grow(std::uint64_t tree, std::uint32_t size);

 private:
  struct Kind {
    std::size_t trees = 0;
    std::vector<std::uint64_t> free;
  };
  struct Tree {
    std::uint32_t id;
    Kind* kind;
    std::uint64_t next_chunk;  // size of the next one: grows with the tree
  };

  std::uint64_t create(Kind& kind);

  arena::Writer& arena_;
  std::mutex mutex_;  // guards what follows
  ChunkPool chunks_;
  std::uint32_t last_id_ = 0x20000000;  // trees of samples and of exact counting have others
  std::unordered_map<std::uint64_t, Tree> trees_;
  std::unordered_map<std::string, Kind> kinds_;
};

}  // namespace sonde::agent
