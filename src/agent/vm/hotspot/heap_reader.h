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
//
// ZGC moves objects while the program runs, and waits for nobody. What refers to an object has a color, which says
// since when it is right (zAddress.hpp). A reference of the good color is to where the object is now, and there it
// stays until the good color changes: that happens in a pause, before anything moves, and with each collection once for
// each generation at most, so the count goes up before a color can come back. So all is copied, whatever the thread
// does, only references of the good color are followed, and a copy counts if color and count are still those of the
// beginning. Objects that nothing refers to may go sooner; what is read here belongs to the thread that is interrupted,
// so it stays reachable. References get the good color when somebody follows them in Java or the JVM, or when a
// collection marks what they refer to; until then it is not known where that is.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/safe_memory.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

// Colors that tell whether an object may have moved: one of these bits is set, and the address begins above it.
inline constexpr std::uint64_t kLoadColors = 0xf000;

// Plain numbers: the handler reads them.
struct CollectorState {
  std::uint64_t active_at = 0;  // address of a bool: the program stands still and a collector works; 0: not known
  std::uint64_t count_at = 0;   // address of 32 bits
  std::uint64_t color_at = 0;   // address of the good color; 0: a collector without colors
  pid_t self = 0;
};

class HeapReader {
 public:
  // Before the first address of an object is read, wherever it lies.
  HeapReader(const CollectorState& collector, bool is_waited_for) SIGNAL_SAFE
      : collector_(collector),
        is_waited_for_(is_waited_for && !has_colors()) {
    if (is_waited_for_ || collector_.active_at == 0) return;
    begun_ = state();  // before the flag: a collection that comes between is seen in one of them
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

  [[nodiscard]] bool has_colors() const SIGNAL_SAFE { return collector_.color_at != 0; }
  // Of a reference with a color: 0, or the address of the object. False if it has not the good color.
  [[nodiscard]] bool read_colored(std::uint64_t address, std::uint64_t& oop) SIGNAL_SAFE {
    std::uint64_t colored = 0;
    if (!read(address, colored) || !is_still(address, colored)) return false;
    const bool is_null = colored <= kColors;
    oop = is_null ? 0 : colored >> (__builtin_ctzll(begun_.color) + 1);
    return is_null || (colored & kLoadColors) == begun_.color;
  }

 private:
  struct State {
    std::uint32_t count;
    std::uint64_t color;
    bool operator==(const State&) const = default;
  };

  static constexpr std::uint64_t kColors = 0xffff;
  static constexpr std::uint64_t kCopied = 1024;  // aligned, so part of one page
  static_assert(4096 % kCopied == 0);

  [[nodiscard]] State state() const SIGNAL_SAFE {
    return {.count = __atomic_load_n(reinterpret_cast<const std::uint32_t*>(collector_.count_at), __ATOMIC_ACQUIRE),
            .color = has_colors() ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(collector_.color_at),
                                                    __ATOMIC_ACQUIRE)
                                  : 0};
  }
  // The collector colors while we copy, byte by byte for all that is known. What is the same twice was there.
  [[nodiscard]] bool is_still(std::uint64_t address, std::uint64_t value) const SIGNAL_SAFE {
    std::uint64_t again = 0;
    MemoryPieces piece;
    piece.add(address, again);
    return piece.read(collector_.self) && again == value;
  }
  bool copy(std::uint64_t number) SIGNAL_SAFE {
    has_copy_ = false;
    MemoryPieces piece;
    piece.add(number * kCopied, copy_, kCopied);
    if (!may_copy_ || !piece.read(collector_.self)) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    copied_ = number;
    has_copy_ = may_copy_ = state() == begun_;
    return has_copy_;
  }

  const CollectorState& collector_;
  const bool is_waited_for_;
  bool may_copy_ = false;
  bool has_copy_ = false;
  State begun_ = {};
  std::uint64_t copied_ = 0;  // which piece of memory
  std::uint8_t copy_[kCopied];
};

}  // namespace sonde::agent::hotspot
