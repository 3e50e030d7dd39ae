// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/slot_table.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace sonde::agent {

bool SlotTable::map() {
  if (slots_ != nullptr) return true;
  void* memory = mmap(nullptr, kMaxSlots * sizeof(ThreadSlot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  slots_ = static_cast<ThreadSlot*>(memory);
  return true;
}

ThreadSlot* SlotTable::acquire(pid_t tid) {
  ThreadSlot* slot = nullptr;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else if (made_ < kMaxSlots) {
    slot = new (slots_ + made_) ThreadSlot;
    ++made_;
  }
  if (slot == nullptr || !slot->ring.map() || !slot->last_walk.map()) return nullptr;
  slot->tid = tid;
  slot->state = ThreadSlot::State::kActive;
  by_tid_[tid] = slot;
  return slot;
}

ThreadSlot* SlotTable::find(pid_t tid) const {
  const auto found = by_tid_.find(tid);
  return found == by_tid_.end() ? nullptr : found->second;
}

void SlotTable::forget(ThreadSlot& slot) {
  slot.state = ThreadSlot::State::kEnded;
  by_tid_.erase(slot.tid);
}

void SlotTable::release(ThreadSlot& slot) {
  slot.state = ThreadSlot::State::kFree;
  slot.stack_low = slot.stack_high = 0;
  slot.java_thread = 0;
  slot.jni_env = nullptr;
  slot.is_internal = false;
  slot.seen_sp.store(0);
  slot.cpu_ns = 0;
  std::memset(slot.trees, 0, sizeof slot.trees);
  slot.decoded = {};
  slot.path = {};
  slot.marks = {};
  slot.pending_wall_ns.store(0);
  slot.last_anchor_sp = slot.last_anchor_pc = slot.last_cpu_ns = 0;
  slot.was_sampled = false;
  slot.idle_samples = slot.idle_ns = 0;
  slot.last_wall_node = nullptr;
  free_.push_back(&slot);
}

void SlotTable::clear() {
  for (std::size_t i = 0; i < made_; ++i) slots_[i].~ThreadSlot();
  // What a late signal finds is zero: the slot of no thread.
  madvise(slots_, made_ * sizeof(ThreadSlot), MADV_DONTNEED);
  made_ = 0;
  free_ = {};
  by_tid_ = {};
  for (std::atomic<std::uint64_t>& word : marked_) word.store(0, std::memory_order_relaxed);
}

std::uint64_t SlotTable::memory_bytes() const {
  std::uint64_t bytes = made_ * sizeof(ThreadSlot);
  for (std::size_t i = 0; i < made_; ++i) {
    const ThreadSlot& slot = slots_[i];
    bytes += slot.ring.touched() + slot.last_walk.touched();
  }
  return bytes;
}

}  // namespace sonde::agent
