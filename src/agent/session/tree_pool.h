// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that starts or ends. Call trees for threads: which thread gets which kind of
// tree (arena::TreeFlags), and what happens with the tree at its end.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/session/chunk_pool.h"
#include "agent/session/method_table.h"
#include "agent/session/options.h"
#include "agent/session/overflow_pool.h"
#include "agent/session/tree_move.h"
#include "arena/writer.h"

namespace sonde::agent {

class TreePool {
 public:
  TreePool(arena::Writer& arena, const MethodTable& methods, const Options& options)
      : arena_(arena), methods_(methods), options_(options), chunks_(arena), overflows_(arena) {}

  // Sets aside what is needed once the arena is full. To be called when the arena exists.
  void start();

  // The address of a TreeHeader as SondeRT knows it; 0 if the arena is full.
  std::uint64_t lease(std::string_view thread_name, bool is_virtual);
  void release(std::uint64_t tree);

  // Another chunk for a tree of at least `size` bytes. If there is none, the tree gets an overflow node: false.
  bool grow(std::uint64_t tree, std::uint32_t size);

 private:
  struct Tree;
  struct Kind {  // of threads
    std::size_t own_trees = 0;
    Tree* group = nullptr;    // null until own trees are used up
    std::vector<Tree*> free;  // members
    std::mutex moving;        // to the group. To be taken before mutex_
    ExtraIndex extras;        // of the group
  };
  struct Tree {
    arena::TreeHeader* header;
    std::uint32_t id;     // 0: there was no room for a tree, all goes to its overflow node
    std::uint32_t flags;  // arena::TreeFlags
    Kind* kind;
    std::uint64_t next_chunk;                   // size of the next one: grows with the tree
    std::vector<arena::ChunkHeader*> chunks{};  // the first one has the header
  };

  Kind& kind_of(std::string_view thread_name, bool is_virtual);
  Tree* lease_member(Kind& kind, std::string_view thread_name, bool is_virtual);
  Tree* lease_without_room();
  Tree* create(Kind& kind, std::uint32_t flags);
  void make_root(arena::TreeHeader& header, const arena::ChunkHeader& chunk);
  bool extend(Tree& tree, std::uint32_t size);
  void end_member(Tree& tree);
  void clear(Tree& tree);

  arena::Writer& arena_;
  const MethodTable& methods_;
  const Options& options_;
  std::mutex mutex_;  // guards what follows
  ChunkPool chunks_;
  OverflowPool overflows_;
  std::deque<Tree> trees_;  // they stay where they are
  std::uint32_t last_id_ = 0;
  std::size_t own_trees_ = 0;
  std::unordered_map<std::uint64_t, Tree*> by_address_;
  std::unordered_map<std::string, Kind> kinds_;
  std::deque<arena::TreeHeader> headers_without_room_;
  std::vector<Tree*> free_without_room_;
};

}  // namespace sonde::agent
