// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. Reads of Java's heap. While the thread that was interrupted runs Java code, a collector that stops
// the program waits for it, and objects stay where they are. In native code, or blocked, the thread is not waited for,
// nor where it is said to be in the JVM: coming from native code it says so before it looks whether it has to stop.
// Then memory is copied by process_vm_readv, where a page that is gone is an error code, and the copy counts only if no
// collection began since the reader was made. Once one did, nothing can be read any more, for addresses that were read
// before may be those of other objects now.
//
// The collector's own flag and count are asked, not JVMTI's events: older JDKs with Serial or Parallel announce none
// for the collection before a heap dump or a class histogram. The flag is set before anything moves and until
// everything has its place, and the count goes up when the flag is set and nothing has moved yet (IsSTWGCActiveMark,
// CollectedHeap::increment_total_collections).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/safe_memory.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

// Plain numbers: the handler reads them.
struct CollectorState {
  std::uint64_t active_at = 0;  // address of a bool: the program stands still and a collector works; 0: not known
  std::uint64_t count_at = 0;   // address of 32 bits
  pid_t self = 0;
};

class HeapReader {
 public:
  // Before the first address of an object is read, wherever it lies.
  HeapReader(const CollectorState& collector, bool is_waited_for) SIGNAL_SAFE : collector_(collector),
                                                                                is_waited_for_(is_waited_for) {
    if (is_waited_for_ || collector_.active_at == 0) return;
    count_ = count();  // before the flag: a collection that comes between is seen in one of them
    may_copy_ = __atomic_load_n(reinterpret_cast<const std::uint8_t*>(collector_.active_at), __ATOMIC_ACQUIRE) == 0;
  }

  // Of an aligned address.
  template <typename T>
  [[nodiscard]] bool read(std::uint64_t address, T& value) SIGNAL_SAFE {
    if (is_waited_for_) {
      value = load<T>(address);
      return true;
    }
    if ((!has_copy_ || address / kCopied != copied_) && !copy(address / kCopied)) return false;
    std::memcpy(&value, copy_ + address % kCopied, sizeof value);
    return true;
  }

 private:
  static constexpr std::uint64_t kCopied = 1024;  // aligned, so part of one page
  static_assert(4096 % kCopied == 0);

  [[nodiscard]] std::uint32_t count() const SIGNAL_SAFE {
    return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(collector_.count_at), __ATOMIC_ACQUIRE);
  }
  bool copy(std::uint64_t number) SIGNAL_SAFE {
    has_copy_ = false;
    MemoryPieces piece;
    piece.add(number * kCopied, copy_, kCopied);
    if (!may_copy_ || !piece.read(collector_.self)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    copied_ = number;
    has_copy_ = may_copy_ = count() == count_;
    return has_copy_;
  }

  const CollectorState& collector_;
  const bool is_waited_for_;
  bool may_copy_ = false;
  bool has_copy_ = false;
  std::uint32_t count_ = 0;
  std::uint64_t copied_ = 0;  // which piece of memory
  std::uint8_t copy_[kCopied];
};

}  // namespace sonde::agent::hotspot
