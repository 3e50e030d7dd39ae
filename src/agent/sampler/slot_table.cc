// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/slot_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace sonde::agent {
namespace {

// Zero until it is used.
void* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool SlotTable::map() {
  if (by_tid_ != nullptr) return true;
  if (slots_ == nullptr) slots_ = static_cast<ThreadSlot*>(reserve(kMaxSlots * sizeof(ThreadSlot)));
  if (slots_ != nullptr) by_tid_ = static_cast<std::atomic<std::uint32_t>*>(reserve(kMaxTid * sizeof *by_tid_));
  return by_tid_ != nullptr;
}

ThreadSlot* SlotTable::acquire(pid_t tid) {
  ThreadSlot* slot = nullptr;
  if (tid <= 0 || tid >= kMaxTid) return nullptr;
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
  return slot;
}

void SlotTable::publish(const ThreadSlot& slot) {
  by_tid_[slot.tid].store(static_cast<std::uint32_t>(&slot - slots_) + 1,
                          std::memory_order_release);  // pairs with find
}

ThreadSlot* SlotTable::find(pid_t tid) const SIGNAL_SAFE {
  if (tid <= 0 || tid >= kMaxTid) return nullptr;
  const std::uint32_t place = by_tid_[tid].load(std::memory_order_acquire);  // pairs with publish
  return place == 0 ? nullptr : slots_ + (place - 1);
}

ThreadSlot* SlotTable::of_this_thread(std::uint64_t stack_pointer) SIGNAL_SAFE {
  std::atomic<ThreadSlot*>& known = by_stack_[stack_pointer / kStackPiece % kStackPieces];
  // A thread that has ended has no number any more, and its stack may be another one's.
  if (ThreadSlot* slot = known.load(std::memory_order_relaxed);
      slot != nullptr && slot->has_on_stack(stack_pointer) && find(slot->tid) == slot) {
    return slot;
  }
  ThreadSlot* slot = find(static_cast<pid_t>(syscall(SYS_gettid)));
  if (slot != nullptr && slot->has_on_stack(stack_pointer)) known.store(slot, std::memory_order_relaxed);
  return slot;
}

void SlotTable::forget(ThreadSlot& slot) {
  slot.state = ThreadSlot::State::kEnded;
  by_tid_[slot.tid].store(0, std::memory_order_relaxed);
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
  madvise(by_tid_, kMaxTid * sizeof *by_tid_, MADV_DONTNEED);
  for (std::atomic<ThreadSlot*>& slot : by_stack_) slot.store(nullptr, std::memory_order_relaxed);
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
