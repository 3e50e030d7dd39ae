// SPDX-License-Identifier: Apache-2.0
#include "agent/session/tree_pool.h"

#include <sys/mman.h>

#include <algorithm>

#include "agent/session/nowhere.h"
#include "agent/session/thread_records.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kFirstChunk = 16 << 10;
constexpr std::uint64_t kLargestChunk = 1 << 20;
// An overflow node must have room for the call sites of any method.
constexpr std::uint64_t kOverflowSize = kSink;
constexpr std::size_t kNoTree = ~std::size_t{0};

}  // namespace

std::uint64_t TreePool::lease(std::string_view thread_name, bool is_virtual) {
  const std::string kind = kind_of_thread(thread_name, is_virtual);
  const std::lock_guard lock(mutex_);
  Kind& of_kind = kinds_[kind];
  std::size_t index = kNoTree;
  if (of_kind.created >= kThreadsOfAKind && !of_kind.free.empty()) {
    index = of_kind.free.back();
    of_kind.free.pop_back();
  } else {
    ++of_kind.created;
    index = create(kind, is_virtual);
    if (index == kNoTree) {
      arena_.count(Counter::kThreadsWithoutTree);
      return 0;
    }
  }
  record_thread(arena_, trees_[index].id, thread_name, is_virtual);
  return trees_[index].address;
}

std::size_t TreePool::create(const std::string& kind, bool is_virtual) {
  const auto id = static_cast<std::uint32_t>(trees_.size() + 1);
  arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kTree, id, kFirstChunk);
  if (chunk == nullptr) return kNoTree;
  auto* header = reinterpret_cast<arena::TreeHeader*>(chunk + 1);
  auto* root = reinterpret_cast<arena::Node*>(header + 1);
  root->site_count = 1;
  auto* site = reinterpret_cast<arena::CallSite*>(root + 1);
  site->node_offset = sizeof(arena::Node);
  header->depth_limit = options_.max_depth;
  header->fold_recursion = options_.fold_recursion ? 1 : 0;
  header->root = arena_.address(root);
  header->next = arena_.address(site + 1);
  header->end = arena_.address(reinterpret_cast<std::uint8_t*>(chunk) + chunk->size);
  const arena::TreeRecord record{.header = {.kind = arena::RecordKind::kTree, .reserved = 0, .size = sizeof record},
                                 .tree_id = id,
                                 .flags = is_virtual ? arena::kTreeOfVirtualThreads : 0U,
                                 .address = arena_.address(header)};
  if (!arena_.append({reinterpret_cast<const std::uint8_t*>(&record), sizeof record})) return kNoTree;
  trees_.push_back({.address = arena_.address(header), .id = id, .kind = kind, .next_chunk = kFirstChunk * 2});
  by_address_[trees_.back().address] = trees_.size() - 1;
  return trees_.size() - 1;
}

TreePool::Tree* TreePool::find(std::uint64_t address) {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : &trees_[found->second];
}

void TreePool::release(std::uint64_t tree) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(tree);
  if (found == by_address_.end()) return;
  sync_overflow(trees_[found->second]);
  kinds_[trees_[found->second].kind].free.push_back(found->second);
}

bool TreePool::grow(std::uint64_t address, std::uint32_t size) {
  const std::lock_guard lock(mutex_);
  Tree* tree = find(address);
  if (tree == nullptr) return false;
  auto* header = static_cast<arena::TreeHeader*>(arena_.pointer(address));
  if (header->overflow == 0) {
    arena::ChunkHeader* chunk =
        arena_.new_chunk(arena::ChunkKind::kTree, tree->id, std::max<std::uint64_t>(tree->next_chunk, size));
    if (chunk != nullptr) {
      tree->next_chunk = std::min(tree->next_chunk * 2, kLargestChunk);
      header->next = arena_.address(chunk + 1);
      header->end = arena_.address(reinterpret_cast<std::uint8_t*>(chunk) + chunk->size);
      return true;
    }
    arena_.count(Counter::kTreesOverflowed);
    void* memory =
        mmap(nullptr, kOverflowSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      header->overflow = kSink;
      return false;
    }
    tree->overflow = static_cast<arena::Node*>(memory);
    tree->overflow->method_id = -1;
    header->overflow = arena_.address(memory);
  }
  return false;
}

void TreePool::sync_overflow(const Tree& tree) {
  if (tree.overflow == nullptr) return;
  // Leaves count at the first call site, others in the node itself.
  const auto* site = reinterpret_cast<const arena::CallSite*>(tree.overflow + 1);
  auto* header = static_cast<arena::TreeHeader*>(arena_.pointer(tree.address));
  header->overflow_calls = tree.overflow->calls + site->child;
  header->overflow_bytecodes = tree.overflow->bytecodes + site->bytecodes;
}

void TreePool::sync_overflows() {
  const std::lock_guard lock(mutex_);
  for (const Tree& tree : trees_) sync_overflow(tree);
}

}  // namespace sonde::agent
