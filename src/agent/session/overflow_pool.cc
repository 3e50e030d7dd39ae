// SPDX-License-Identifier: Apache-2.0
#include "agent/session/overflow_pool.h"

#include <sys/mman.h>

#include <cstddef>

#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kMorePages = 16;
// The page, and behind it zeros for the call sites of any method.
constexpr std::uint64_t kAreaSize = arena::kPageSize + kSink;

}  // namespace

bool OverflowPool::reserve(std::uint64_t pages) {
  // One page more, since chunks do not start at a page.
  arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kOverflow, 0, (pages + 1) * arena::kPageSize);
  if (chunk == nullptr) return false;
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(chunk + 1);
  const std::uint64_t first = (begin + arena::kPageSize - 1) / arena::kPageSize * arena::kPageSize;
  for (std::uint64_t i = pages; i-- > 0;) {
    free_.push_back(reinterpret_cast<arena::OverflowPage*>(first + i * arena::kPageSize));
  }
  return true;
}

std::uint64_t OverflowPool::take(std::uint32_t tree_id) {
  if (free_.empty() && !reserve(kMorePages)) return 0;
  void* area = mmap(nullptr, kAreaSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return 0;
  arena::OverflowPage* page = free_.back();
  if (!arena_.map_again(page, arena::kPageSize, area)) {
    munmap(area, kAreaSize);
    return 0;
  }
  free_.pop_back();
  page->tree_id = tree_id;
  page->node.method_id = -1;
  __atomic_store_n(&page->is_used, 1, __ATOMIC_RELEASE);
  return arena_.address(static_cast<arena::OverflowPage*>(area)) + offsetof(arena::OverflowPage, node);
}

}  // namespace sonde::agent
