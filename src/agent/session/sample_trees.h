// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Call trees made of stacks: a stack goes in, and the node of its innermost
// method counts it. All trees share their memory in the arena; a host may read them at any moment.
//
// Memory is bounded (papers/002, partial calling context trees). When the arena is full, cold contexts are purged:
// those with the fewest samples, with all below them, until a quarter of the nodes is free. What they had is kept in
// one child
// "[purged]" of the context they hung below. If even that makes no room, because others fill the arena, samples in new
// contexts count at the root of their tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/session/hot_tables.h"
#include "agent/session/sampled_methods.h"
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
  std::uint32_t purges = 0;  // how many there were when this was made; nodes are good until the next
  std::vector<StackFrame> frames;
  std::vector<arena::SampleNode*> nodes;
};

class SampleTrees {
 public:
  SampleTrees(arena::Writer& arena, SampledMethods& methods) : arena_(arena), methods_(methods), hot_(arena) {}

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
  void count_again(arena::SampleTreeKind kind, arena::SampleNode& node, std::uint64_t samples, std::uint64_t weight_ns);

  // How often nodes were freed. Whoever keeps a node asks after a change which one stands for it now.
  [[nodiscard]] std::uint32_t purges() const { return purges_; }
  [[nodiscard]] arena::SampleNode* kept(arena::SampleNode* node) const;

  // Remembers when a node was sampled. False if the timeline has its share of the arena: a half.
  bool add_to_timeline(const arena::SampleNode* node, std::uint64_t since_start_ns);

  [[nodiscard]] std::uint64_t memory_bytes() const { return table_.size() * sizeof(Known) + hot_.memory_bytes(); }

 private:
  static constexpr std::uint64_t kNodesChunk = 64 << 10;
  static constexpr std::size_t kFewestToPurge = 2000;  // with fewer the arena is full of other things

  struct Kind {
    std::uint32_t created = 0;
    std::uint32_t shared = 0;
  };
  struct Known {
    arena::SampleNode* node = nullptr;
    HotTables::Count* edge = nullptr;  // null until somebody asks for it
  };

  std::uint32_t create(const TreeKey& key, std::string_view name);
  Known* child(arena::SampleNode* parent, std::uint32_t method_id, std::uint16_t line, std::uint16_t bci);
  arena::SampleNode* new_node();
  void make_room(std::size_t nodes);
  void purge();
  std::vector<arena::SampleNode*> callers_first() const;
  std::size_t freed_by_purging(const std::vector<arena::SampleNode*>& nodes, std::uint64_t most) const;
  arena::SampleNode* purge_children(arena::SampleNode& parent, std::uint64_t most);
  void release_below(arena::SampleNode& top, std::uint64_t kept_at);
  void release(arena::SampleNode& node, std::uint64_t kept_at);
  void rebuild_table(const std::vector<arena::SampleNode*>& nodes);
  void move_timeline();
  Known& place(std::uint64_t parent, std::uint32_t method_id, std::uint16_t line);
  void enlarge_table();

  arena::Writer& arena_;
  SampledMethods& methods_;
  HotTables hot_;
  std::vector<arena::SampleTreeKind> kinds_of_trees_ = {arena::SampleTreeKind::kCpu};  // by tree number
  std::vector<arena::SampleNode*> roots_ = {nullptr};                                  // by tree number
  std::unordered_map<std::string, Kind> kinds_;
  std::vector<Known> table_;  // hash table of all nodes but roots; its size is a power of two
  std::size_t nodes_ = 0;
  arena::SampleNode* next_node_ = nullptr;
  arena::SampleNode* end_of_nodes_ = nullptr;
  arena::SampleNode* free_ = nullptr;  // linked by next_sibling
  std::size_t free_count_ = 0;
  std::uint32_t purges_ = 0;
  std::uint32_t purged_id_ = 0;                // of "[purged]"; 0 until it is needed
  std::vector<arena::ChunkHeader*> timeline_;  // the last one is in use
};

}  // namespace sonde::agent
