// SPDX-License-Identifier: Apache-2.0
#include "agent/session/flat_blocks.h"

#include <algorithm>

#include "agent/session/thread_records.h"

namespace sonde::agent {

std::uint64_t FlatBlocks::lease(std::string_view thread_name, bool is_virtual) {
  const std::string kind = kind_of_thread(thread_name, is_virtual);
  const std::lock_guard lock(mutex_);
  Kind& of_kind = kinds_[kind];
  std::uint32_t block = 0;
  if (of_kind.created >= kThreadsOfAKind && !of_kind.free.empty()) {
    block = of_kind.free.back();
    of_kind.free.pop_back();
  } else {
    block = create(kind);
    if (block == 0) {
      arena_.count(Counter::kThreadsWithoutTree);
      return 0;
    }
    ++of_kind.created;
  }
  record_thread(arena_, block, thread_name, is_virtual);
  return block * arena::kFlatPageSize;
}

std::uint32_t FlatBlocks::create(const std::string& kind) {
  const auto block = static_cast<std::uint32_t>(kind_of_block_.size());
  if (!arena_.reserve_flat(last_method_, block + 1)) return 0;
  kind_of_block_.push_back(kind);
  arena_.header().flat_blocks.store(block + 1, std::memory_order_release);  // pairs with Reader::read_flat_header
  return block;
}

void FlatBlocks::release(std::uint64_t block_offset) {
  const std::uint64_t block = block_offset / arena::kFlatPageSize;
  const std::lock_guard lock(mutex_);
  if (block < arena::kFirstFlatBlock || block >= kind_of_block_.size()) return;
  kinds_[kind_of_block_[block]].free.push_back(static_cast<std::uint32_t>(block));
}

bool FlatBlocks::make_room_for(std::uint32_t method_id) {
  const std::lock_guard lock(mutex_);
  if (!arena_.reserve_flat(method_id, kind_of_block_.size())) return false;
  last_method_ = std::max(last_method_, method_id);
  return true;
}

}  // namespace sonde::agent
