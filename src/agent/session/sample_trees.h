// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Call trees made of stacks: a stack goes in, and the node of its innermost
// method counts it. All trees share their memory in the arena; a host may read them at any moment. When the arena is
// full, samples in contexts that are not there yet count at the root of their tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arena/writer.h"

namespace sonde::agent {

struct StackFrame {
  std::uint32_t method_id;
  std::uint16_t line;  // where it is, or calls the next frame; 0 if unknown
  std::uint16_t bci;
  bool operator==(const StackFrame&) const = default;
};

// The stack of a thread's last sample: the next one usually begins with the same frames.
struct StackPath {
  std::uint32_t tree = 0;
  std::vector<StackFrame> frames;
  std::vector<arena::SampleNode*> nodes;
};

class SampleTrees {
 public:
  explicit SampleTrees(arena::Writer& arena) : arena_(arena) {}

  struct TreeKey {
    arena::SampleTreeKind kind;
    arena::ThreadState state;
    std::string_view thread_name;
    bool is_virtual;
  };
  // The tree for samples of a thread: its own, or one for all of its kind if there are many. 0 if the arena is full.
  std::uint32_t tree_for(const TreeKey& key);

  // Outermost frame first. Returns the node that counted it.
  arena::SampleNode* add(std::uint32_t tree, std::span<const StackFrame> frames, StackPath& path, std::uint64_t samples,
                         std::uint64_t weight_ns);

  // More samples where the last one was.
  static void count_again(arena::SampleNode& node, std::uint64_t samples, std::uint64_t weight_ns);

  // Remembers when a node was sampled. False if the arena has no room.
  bool add_to_timeline(const arena::SampleNode* node, std::uint64_t since_start_ns);

  [[nodiscard]] std::uint64_t memory_bytes() const { return table_.size() * sizeof table_[0]; }

 private:
  struct Kind {
    std::uint32_t created = 0;
    std::uint32_t shared = 0;
  };

  std::uint32_t create(const TreeKey& key, std::string_view name);
  arena::SampleNode* child(arena::SampleNode* parent, std::uint32_t method_id, std::uint16_t line, std::uint16_t bci);
  arena::SampleNode* new_node();
  arena::SampleNode** place(std::uint64_t parent, std::uint32_t method_id, std::uint16_t line);
  void enlarge_table();

  arena::Writer& arena_;
  std::vector<arena::SampleNode*> roots_ = {nullptr};  // by tree number
  std::unordered_map<std::string, Kind> kinds_;
  std::vector<arena::SampleNode*> table_;  // hash table of all nodes but roots; its size is a power of two
  std::size_t nodes_ = 0;
  arena::SampleNode* next_node_ = nullptr;
  arena::SampleNode* end_of_nodes_ = nullptr;
  arena::ChunkHeader* timeline_ = nullptr;
};

}  // namespace sonde::agent
