// SPDX-License-Identifier: Apache-2.0
#include "agent/session/tree_pool.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/session/nowhere.h"
#include "agent/session/thread_records.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kFirstChunk = 16 << 10;
constexpr std::uint64_t kFirstChunkOfMember = 2 << 10;  // they are many, and most are small
// So many threads have a tree of their own, under their own name (and of one kind, kThreadsOfAKind); the others are
// members of groups.
constexpr std::size_t kOwnTrees = 4096;
constexpr std::size_t kKinds = 1024;  // then all new ones are one
constexpr std::uint64_t kFewestOverflowPages = 8;
constexpr std::uint64_t kMostOverflowPages = 64;

void set_use(arena::TreeHeader& header, arena::TreeUse use) {
  const std::uint64_t lease = header.lease / 4 + (use == arena::kTreeInUse ? 1 : 0);
  __atomic_store_n(&header.lease, lease * 4 + use, __ATOMIC_RELEASE);
  std::atomic_thread_fence(std::memory_order_release);  // a reader sees it before it sees what is done next
}

}  // namespace

void TreePool::start() {
  const std::uint64_t share = arena_.header().capacity / arena::kPageSize / 16;
  if (!overflows_.reserve(std::clamp(share, kFewestOverflowPages, kMostOverflowPages))) {
    arena_.count(Counter::kRecordsDropped);
  }
}

std::uint64_t TreePool::lease(std::string_view thread_name, bool is_virtual) {
  const std::lock_guard lock(mutex_);
  Kind& kind = kind_of(thread_name, is_virtual);
  const bool nameless = is_virtual && thread_name.empty();
  Tree* tree = nullptr;
  if (!nameless && kind.own_trees < kThreadsOfAKind && own_trees_ < kOwnTrees) {
    tree = create(kind, is_virtual ? arena::kTreeOfVirtualThreads : 0U);
    if (tree != nullptr) {
      ++kind.own_trees;
      ++own_trees_;
      record_thread(arena_, tree->id, thread_name, is_virtual);
    }
  } else {
    tree = lease_member(kind, thread_name, is_virtual);
  }
  if (tree == nullptr) tree = lease_without_room();
  if (tree == nullptr) {
    arena_.count(Counter::kThreadsWithoutTree);
    return 0;
  }
  return arena_.address(tree->header);
}

TreePool::Kind& TreePool::kind_of(std::string_view thread_name, bool is_virtual) {
  std::string name = kind_of_thread(thread_name, is_virtual);
  if (kinds_.size() >= kKinds && !kinds_.contains(name)) name = is_virtual ? "virtual, others" : "others";
  return kinds_[name];
}

TreePool::Tree* TreePool::lease_member(Kind& kind, std::string_view thread_name, bool is_virtual) {
  const std::uint32_t flags = is_virtual ? arena::kTreeOfVirtualThreads : 0U;
  if (kind.group == nullptr) {
    kind.group = create(kind, flags | arena::kTreeOfGroup);
    if (kind.group == nullptr) return nullptr;
    record_thread(arena_, kind.group->id, thread_name, is_virtual);
  }
  Tree* tree = nullptr;
  if (!kind.free.empty()) {
    tree = kind.free.back();
    kind.free.pop_back();
    set_use(*tree->header, arena::kTreeInUse);
  } else {
    tree = create(kind, flags | arena::kTreeOfMember);
    if (tree == nullptr) return nullptr;
  }
  ++kind.group->header->threads;
  return tree;
}

// A tree that is nothing but an overflow node.
TreePool::Tree* TreePool::lease_without_room() {
  if (!free_without_room_.empty()) {
    Tree* tree = free_without_room_.back();
    free_without_room_.pop_back();
    return tree;
  }
  const std::uint64_t overflow = overflows_.take(0);
  if (overflow == 0) return nullptr;
  arena_.count(Counter::kTreesOverflowed);
  arena::TreeHeader& header = headers_without_room_.emplace_back();
  header.overflow = overflow;
  header.root = overflow;
  Tree& tree = trees_.emplace_back(Tree{.header = &header, .id = 0, .flags = 0, .kind = nullptr, .next_chunk = 0});
  by_address_[arena_.address(&header)] = &tree;
  return &tree;
}

TreePool::Tree* TreePool::create(Kind& kind, std::uint32_t flags) {
  const std::uint32_t id = last_id_ + 1;
  const bool is_member = (flags & arena::kTreeOfMember) != 0;
  const std::uint64_t size = is_member ? kFirstChunkOfMember : kFirstChunk;
  arena::ChunkHeader* chunk = chunks_.take(id, size, kFirstChunkOfMember / 2);
  if (chunk == nullptr) return nullptr;
  auto* header = reinterpret_cast<arena::TreeHeader*>(chunk + 1);
  make_root(*header, *chunk);
  set_use(*header, arena::kTreeInUse);
  const arena::TreeRecord record{.header = {.kind = arena::RecordKind::kTree, .reserved = 0, .size = sizeof record},
                                 .tree_id = id,
                                 .flags = flags,
                                 .address = arena_.address(header),
                                 .group = is_member ? kind.group->id : 0,
                                 .reserved = 0};
  if (!arena_.append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record})) return nullptr;
  last_id_ = id;
  Tree& tree = trees_.emplace_back(Tree{
      .header = header, .id = id, .flags = flags, .kind = &kind, .next_chunk = chunk->size * 2, .chunks = {chunk}});
  by_address_[record.address] = &tree;
  return &tree;
}

void TreePool::make_root(arena::TreeHeader& header, const arena::ChunkHeader& chunk) {
  auto* root = reinterpret_cast<arena::Node*>(&header + 1);
  auto* site = reinterpret_cast<arena::CallSite*>(root + 1);
  root->site_count = 1;
  site->node_offset = sizeof(arena::Node);
  header.depth_limit = options_.max_depth;
  header.fold_recursion = options_.fold_recursion ? 1 : 0;
  header.root = arena_.address(root);
  header.next = arena_.address(site + 1);
  header.end = arena_.address(&chunk) + chunk.size;
}

bool TreePool::grow(std::uint64_t address, std::uint32_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  if (found == by_address_.end() || found->second->id == 0) return false;
  Tree& tree = *found->second;
  if (extend(tree, size)) return true;
  if (tree.header->overflow != 0) return false;
  tree.header->overflow = overflows_.take(tree.id);
  if (tree.header->overflow != 0) {
    arena_.count(Counter::kTreesOverflowed);
  } else {
    tree.header->overflow = kSink;
    arena_.count(Counter::kThreadsWithoutTree);
  }
  return false;
}

bool TreePool::extend(Tree& tree, std::uint32_t size) {
  arena::ChunkHeader* chunk = chunks_.take(tree.id, tree.next_chunk, size);
  if (chunk == nullptr) return false;
  tree.next_chunk = std::min(tree.next_chunk * 2, ChunkPool::kLargest);
  tree.chunks.push_back(chunk);
  tree.header->next = arena_.address(chunk + 1);
  tree.header->end = arena_.address(chunk) + chunk->size;
  return true;
}

void TreePool::release(std::uint64_t address) {
  Tree* tree = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return;
    tree = found->second;
    if (tree->id == 0) free_without_room_.push_back(tree);
  }
  if ((tree->flags & arena::kTreeOfMember) != 0) end_member(*tree);
}

void TreePool::end_member(Tree& tree) {
  Kind& kind = *tree.kind;
  set_use(*tree.header, arena::kTreeEnding);
  {
    const std::lock_guard moving(kind.moving);
    TreeMove move(arena_, methods_, *kind.group->header, kind.extras, [&](std::uint32_t size) {
      const std::lock_guard lock(mutex_);
      return extend(*kind.group, size);
    });
    if (!move.run(*tree.header)) return set_use(*tree.header, arena::kTreeInUse);  // for ever
  }
  set_use(*tree.header, arena::kTreeFree);
  clear(tree);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 1; i < tree.chunks.size(); ++i) chunks_.give_back(tree.chunks[i]);
  tree.chunks.resize(1);
  kind.free.push_back(&tree);
}

// All memory of the tree is as it was in the beginning.
void TreePool::clear(Tree& tree) {
  arena::TreeHeader& header = *tree.header;
  const auto zero = [](void* from, const void* end) {
    std::memset(from, 0, static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<char*>(from)));
  };
  for (arena::ChunkHeader* chunk : tree.chunks) {
    const bool is_first = chunk == tree.chunks.front();
    const bool is_last = chunk == tree.chunks.back();
    void* begin = is_first ? static_cast<void*>(&header + 1) : chunk + 1;
    zero(begin, is_last ? arena_.pointer(header.next) : reinterpret_cast<const char*>(chunk) + chunk->size);
  }
  header.nodes = 0;
  make_root(header, *tree.chunks.front());
  tree.next_chunk = tree.chunks.front()->size * 2;
}

}  // namespace sonde::agent
