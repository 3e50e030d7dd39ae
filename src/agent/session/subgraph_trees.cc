// SPDX-License-Identifier: Apache-2.0
#include "agent/session/subgraph_trees.h"

#include <algorithm>
#include <cstring>

#include "agent/session/thread_records.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kFirstChunk = 16 << 10;

}  // namespace

std::uint64_t SubgraphTrees::lease(std::string_view thread_name, bool is_virtual) {
  const std::lock_guard lock(mutex_);
  const bool is_nameless = is_virtual && thread_name.empty();
  Kind& kind = kinds_[kind_of_thread(thread_name, is_virtual)];
  std::uint64_t tree = 0;
  if (!kind.free.empty() && (is_nameless || kind.trees >= kThreadsOfAKind)) {
    tree = kind.free.back();
    kind.free.pop_back();
  } else {
    tree = create(kind);
    if (tree != 0) record_thread(arena_, last_id_, thread_name, is_virtual);
  }
  if (tree == 0) {
    arena_.count(Counter::kThreadsWithoutTree);
    return 0;
  }
  ++static_cast<arena::SubgraphTree*>(arena_.pointer(tree))->threads;
  return tree;
}

std::uint64_t SubgraphTrees::create(Kind& kind) {
  const std::uint32_t id = last_id_ + 1;
  arena::ChunkHeader* chunk = chunks_.take(id, kFirstChunk, sizeof(arena::SubgraphTree));
  if (chunk == nullptr) return 0;
  last_id_ = id;
  ++kind.trees;
  auto* header = reinterpret_cast<arena::SubgraphTree*>(chunk + 1);
  const std::uint64_t address = arena_.address(header);
  *header = {.next = address + sizeof *header,
             .end = arena_.address(chunk) + chunk->size,
             .root = 0,
             .nodes = 0,
             .own_ns = 0,
             .lost = 0,
             .threads = 0,
             .nobody = 0};
  const arena::SubgraphTreeRecord record{
      .header = {.kind = arena::RecordKind::kSubgraphTree, .reserved = 0, .size = sizeof(arena::SubgraphTreeRecord)},
      .tree_id = id,
      .reserved = 0,
      .address = address};
  if (!arena_.append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record}))
    arena_.count(Counter::kRecordsDropped);
  trees_.emplace(address, Tree{.id = id, .kind = &kind, .next_chunk = 2 * kFirstChunk});
  return address;
}

void SubgraphTrees::release(std::uint64_t tree) {
  const std::lock_guard lock(mutex_);
  if (const auto it = trees_.find(tree); it != trees_.end()) it->second.kind->free.push_back(tree);
}

bool SubgraphTrees::grow(std::uint64_t tree, std::uint32_t size) {
  const std::lock_guard lock(mutex_);
  const auto it = trees_.find(tree);
  if (it == trees_.end()) return false;
  arena::ChunkHeader* chunk = chunks_.take(it->second.id, it->second.next_chunk, size);
  if (chunk == nullptr) {
    arena_.count(Counter::kSubgraphContextsLost);
    return false;
  }
  it->second.next_chunk = std::min(2 * it->second.next_chunk, ChunkPool::kLargest);
  auto* header = static_cast<arena::SubgraphTree*>(arena_.pointer(tree));
  header->end = arena_.address(chunk) + chunk->size;
  header->next = arena_.address(chunk + 1);
  return true;
}

}  // namespace sonde::agent
