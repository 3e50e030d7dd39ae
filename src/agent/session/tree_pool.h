// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that starts or ends. Call trees for threads. A tree belongs to one thread at a
// time. Once many threads of one kind have ended, the next ones go on with their trees, so that the arena does not grow
// with the number of threads that ever lived.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/session/options.h"
#include "arena/writer.h"

namespace sonde::agent {

class TreePool {
 public:
  TreePool(arena::Writer& arena, const Options& options) : arena_(arena), options_(options) {}

  // The address of a TreeHeader as SondeRT knows it; 0 if the arena is full.
  std::uint64_t lease(std::string_view thread_name, bool is_virtual);
  void release(std::uint64_t tree);

  // Another chunk for a tree of at least `size` bytes. If there is none, the tree gets an overflow node: false.
  bool grow(std::uint64_t tree, std::uint32_t size);

  // Copies what went to overflow nodes, which live in private memory, into the arena.
  void sync_overflows();

 private:
  struct Tree {
    std::uint64_t address;
    std::uint32_t id;
    std::string kind;          // threads that may share it
    std::uint64_t next_chunk;  // size of the next one: grows with the tree
    arena::Node* overflow = nullptr;
  };

  std::size_t create(const std::string& kind, bool is_virtual);
  void sync_overflow(const Tree& tree);
  Tree* find(std::uint64_t address);

  arena::Writer& arena_;
  const Options& options_;
  std::mutex mutex_;  // guards what follows
  std::vector<Tree> trees_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
  struct Kind {
    std::size_t created = 0;
    std::vector<std::size_t> free;
  };
  std::unordered_map<std::string, Kind> kinds_;
};

}  // namespace sonde::agent
