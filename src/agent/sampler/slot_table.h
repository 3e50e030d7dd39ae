// SPDX-License-Identifier: Apache-2.0
// All slots of a process, in one piece of address space, so that a handler can tell whether a pointer that came with a
// signal is one of ours. Context: [agent] with the sampler's lock held, except what says [signal].
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "agent/sampler/thread_slot.h"

namespace sonde::agent {

class SlotTable {
 public:
  static constexpr std::size_t kMaxSlots = 65536;
  static constexpr pid_t kMaxTid = 1 << 22;  // of Linux: PID_MAX_LIMIT

  bool map();
  // A slot with a ring, for a thread that has none yet; null if there is no memory.
  ThreadSlot* acquire(pid_t tid);
  // All that [signal] needs to know of the thread is there: from now on the slot is found.
  void publish(const ThreadSlot& slot);
  // [signal] too.
  [[nodiscard]] ThreadSlot* find(pid_t tid) const SIGNAL_SAFE;
  // [signal] The slot of the thread that runs, whose stack pointer this is; null: it has none.
  ThreadSlot* of_this_thread(std::uint64_t stack_pointer) SIGNAL_SAFE;
  // The thread has ended: its id may come again. The slot stays in use until release().
  void forget(ThreadSlot& slot);
  void release(ThreadSlot& slot);
  // No slot is in use and none has memory; no handler may be running.
  void clear();

  template <typename Use>
  void for_each_in_use(const Use& use) {
    for (std::size_t i = 0; i < made_; ++i) {
      if (slots_[i].state != ThreadSlot::State::kFree) use(slots_[i]);
    }
  }

  // Calls use(slot) for those that mark() was called for since the last time.
  template <typename Use>
  void for_each_marked(const Use& use) {
    for (std::size_t word = 0; word * 64 < made_; ++word) {
      std::uint64_t bits = marked_[word].exchange(0, std::memory_order_acquire);  // pairs with mark()
      for (; bits != 0; bits &= bits - 1) use(slots_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }

  // [signal] There is something in the slot's ring.
  void mark(const ThreadSlot& slot) SIGNAL_SAFE {
    const auto index = static_cast<std::size_t>(&slot - slots_);
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    if ((marked_[index / 64].load(std::memory_order_relaxed) & bit) == 0) {
      marked_[index / 64].fetch_or(bit, std::memory_order_release);
    }
  }

  // [signal]
  [[nodiscard]] bool contains(const void* pointer) const SIGNAL_SAFE {
    const auto offset = reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(slots_);
    return offset < kMaxSlots * sizeof(ThreadSlot) && offset % sizeof(ThreadSlot) == 0;
  }
  // In use by slots and rings.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  ThreadSlot* slots_ = nullptr;
  std::size_t made_ = 0;
  std::vector<ThreadSlot*> free_;
  std::atomic<std::uint32_t>* by_tid_ = nullptr;  // the slot's place, from 1
  // By piece of stack the slot that was last found there: the kernel need not be asked for the thread's number with
  // each signal. The slot's bounds tell whether it is the right one.
  static constexpr std::size_t kStackPieces = 4096;
  static constexpr std::uint64_t kStackPiece = 65536;
  std::atomic<ThreadSlot*> by_stack_[kStackPieces] = {};
  std::atomic<std::uint64_t> marked_[kMaxSlots / 64] = {};
};

}  // namespace sonde::agent
