// SPDX-License-Identifier: Apache-2.0
#include "agent/session/sample_trees.h"

#include <algorithm>
#include <cstring>

#include "agent/session/thread_records.h"

namespace sonde::agent {

using arena::SampleNode;

namespace {

constexpr std::uint64_t kTimelineChunk = 64 << 10;
constexpr std::size_t kFirstTable = 1 << 12;
// Ids of trees and threads are shared with the call trees of instrumented code, which count from 1.
constexpr std::uint32_t kFirstTreeId = 0x40000000;

// Fields that a host may be reading. Release: what the node holds comes first.
template <typename T>
void publish(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}
void add_to(std::uint64_t& field, std::uint64_t value) { __atomic_store_n(&field, field + value, __ATOMIC_RELAXED); }

std::uint64_t hash_of(std::uint64_t parent, std::uint32_t method_id, std::uint16_t line) {
  std::uint64_t h = parent ^ (std::uint64_t{method_id} << 20) ^ (std::uint64_t{line} << 52);
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15;
  return h ^ h >> 29;
}

}  // namespace

std::uint32_t SampleTrees::tree_for(const TreeKey& key) {
  std::string kind = kind_of_thread(key.thread_name, key.is_virtual);
  kind += static_cast<char>(key.kind);
  kind += static_cast<char>(key.state);
  Kind& of_kind = kinds_[kind];
  const bool is_shared = key.is_virtual || of_kind.created >= kThreadsOfAKind;
  if (is_shared && of_kind.shared != 0) return of_kind.shared;
  const std::uint32_t tree = create(key, key.thread_name.empty() ? "virtual" : key.thread_name);
  if (tree == 0) return 0;
  ++of_kind.created;
  if (is_shared) of_kind.shared = tree;
  return tree;
}

std::uint32_t SampleTrees::create(const TreeKey& key, std::string_view name) {
  SampleNode* root = new_node();
  if (root == nullptr) return 0;
  const auto number = static_cast<std::uint32_t>(roots_.size());
  const std::uint32_t id = kFirstTreeId + number;
  const arena::SampleTreeRecord record{
      .header = {.kind = arena::RecordKind::kSampleTree, .reserved = 0, .size = sizeof record},
      .tree_id = id,
      .kind = key.kind,
      .state = key.state,
      .reserved = 0,
      .root = arena_.address(root)};
  record_thread(arena_, id, name, key.is_virtual);
  if (!arena_.append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record})) return 0;
  roots_.push_back(root);
  kinds_of_trees_.push_back(key.kind);
  return number;
}

SampleNode* SampleTrees::add(std::uint32_t tree, std::span<const StackFrame> frames, StackPath& path,
                             std::uint64_t samples, std::uint64_t weight_ns) {
  make_room(frames.size());
  if (path.tree != tree || path.purges != purges_) {
    path.tree = tree;
    path.purges = purges_;
    path.frames.clear();
    path.nodes.clear();
  }
  // Two frames lead to the same node if their methods are the same and the callers' places are: line i belongs to the
  // node of frame i + 1.
  std::size_t same = 0;
  const std::size_t limit = std::min(frames.size(), path.nodes.size());
  while (same < limit && frames[same].method_id == path.frames[same].method_id &&
         (same == 0 || frames[same - 1].line == path.frames[same - 1].line)) {
    ++same;
  }
  path.nodes.resize(same);
  SampleNode* const root = roots_[tree];
  SampleNode* node = same == 0 ? root : path.nodes.back();
  for (std::size_t i = same; i < frames.size(); ++i) {
    const StackFrame caller = i == 0 ? StackFrame{} : frames[i - 1];
    Known* known = child(node, frames[i].method_id, caller.line, caller.bci);
    if (known == nullptr) {
      arena_.count(Counter::kSamplesWithoutContext, samples);
      node = root;
      break;
    }
    node = known->node;
    add_to(node->activations, 1);
    if (known->edge == nullptr) known->edge = &hot_.edge(kinds_of_trees_[tree], caller.method_id, frames[i].method_id);
    hot_.count_edge(kinds_of_trees_[tree], *known->edge);
    path.nodes.push_back(node);
  }
  path.frames.assign(frames.begin(), frames.end());
  if (!frames.empty()) hot_.count_method(kinds_of_trees_[tree], frames.back().method_id, samples, weight_ns);
  add_to(node->samples, samples);
  add_to(node->weight_ns, weight_ns);
  return node;
}

void SampleTrees::count_again(arena::SampleTreeKind kind, SampleNode& node, std::uint64_t samples,
                              std::uint64_t weight_ns) {
  if (node.method_id != 0) hot_.count_method(kind, node.method_id, samples, weight_ns);
  add_to(node.samples, samples);
  add_to(node.weight_ns, weight_ns);
}

SampleTrees::Known* SampleTrees::child(SampleNode* parent, std::uint32_t method_id, std::uint16_t line,
                                       std::uint16_t bci) {
  if ((nodes_ + 1) * 2 > table_.size()) enlarge_table();
  const std::uint64_t parent_address = arena_.address(parent);
  Known& known = place(parent_address, method_id, line);
  if (known.node != nullptr) return &known;
  SampleNode* node = new_node();
  if (node == nullptr) return nullptr;
  node->method_id = method_id;
  node->line = line;
  node->bci = bci;
  node->parent = parent_address;
  node->next_sibling = parent->first_child;
  publish(parent->first_child, arena_.address(node));
  known.node = node;
  ++nodes_;
  return &known;
}

// Where the table has this node, or an empty place for it.
SampleTrees::Known& SampleTrees::place(std::uint64_t parent, std::uint32_t method_id, std::uint16_t line) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash_of(parent, method_id, line) & mask;; i = (i + 1) & mask) {
    const SampleNode* node = table_[i].node;
    if (node == nullptr || (node->parent == parent && node->method_id == method_id && node->line == line)) {
      return table_[i];
    }
  }
}

void SampleTrees::enlarge_table() {
  std::vector<Known> old = std::move(table_);
  table_.assign(std::max(kFirstTable, old.size() * 2), {});
  for (const Known& known : old) {
    if (known.node != nullptr) place(known.node->parent, known.node->method_id, known.node->line) = known;
  }
}

SampleNode* SampleTrees::new_node() {
  if (free_ != nullptr) {
    SampleNode* node = free_;
    free_ = static_cast<SampleNode*>(node->next_sibling == 0 ? nullptr : arena_.pointer(node->next_sibling));
    --free_count_;
    *node = {};
    return node;
  }
  if (next_node_ == end_of_nodes_) {
    arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kSamples, 0, kNodesChunk);
    if (chunk == nullptr) return nullptr;
    next_node_ = reinterpret_cast<SampleNode*>(chunk + 1);
    end_of_nodes_ = next_node_ + (chunk->size - sizeof *chunk) / sizeof(SampleNode);
  }
  return next_node_++;
}

bool SampleTrees::add_to_timeline(const SampleNode* node, std::uint64_t since_start_ns) {
  const auto used = [&] { return timeline_.back()->used.load(std::memory_order_relaxed); };
  if (timeline_.empty() || used() + sizeof(arena::TimelineEntry) > timeline_.back()->size) {
    if ((timeline_.size() + 1) * kTimelineChunk > arena_.header().capacity / 2) return false;
    arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kTimeline, 0, kTimelineChunk);
    if (chunk == nullptr) return false;
    timeline_.push_back(chunk);
  }
  const std::uint64_t offset = arena_.address(node) - arena_.header().base_address;
  const arena::TimelineEntry entry{.node = static_cast<std::uint32_t>(offset / sizeof *node),
                                   .bucket = static_cast<std::uint32_t>(since_start_ns / arena::kBucketNs)};
  std::memcpy(reinterpret_cast<std::uint8_t*>(timeline_.back()) + used(), &entry, sizeof entry);
  timeline_.back()->used.store(used() + sizeof entry,
                               std::memory_order_release);  // pairs with the reader's acquire load
  return true;
}

}  // namespace sonde::agent
