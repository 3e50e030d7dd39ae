// SPDX-License-Identifier: Apache-2.0
// Context: [signal], all threads at once. What return addresses into compiled code lead to, so that a walk over frames
// that were met before reads one line of this table and one of the nmethod instead of the code cache's structures.
//
// Entries are written and read without a lock. The first word is the key xored with the others, so an entry that two
// threads wrote at once matches no key. An nmethod's address may be used again: the compile id, which never is, tells.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

class FrameCache {
 public:
  struct Frame {
    std::uint64_t nmethod;  // 0: not known
    std::uint32_t compile_id;
    std::uint32_t size;  // in words
  };

  [[nodiscard]] Frame find(std::uint64_t pc) const SIGNAL_SAFE {
    const Entry& entry = entries_[index_of(pc)];
    const std::uint64_t nmethod = entry.nmethod.load(std::memory_order_relaxed);
    const std::uint64_t rest = entry.rest.load(std::memory_order_relaxed);
    if (entry.check.load(std::memory_order_relaxed) != (pc ^ nmethod ^ rest)) return {};
    return {.nmethod = nmethod,
            .compile_id = static_cast<std::uint32_t>(rest),
            .size = static_cast<std::uint32_t>(rest >> 32)};
  }

  // [agent] While no handler runs.
  void clear() {
    for (Entry& entry : entries_) entry.check.store(0, std::memory_order_relaxed);
  }

  void remember(std::uint64_t pc, const Frame& frame) SIGNAL_SAFE {
    const std::uint64_t rest = std::uint64_t{frame.size} << 32 | frame.compile_id;
    Entry& entry = entries_[index_of(pc)];
    entry.nmethod.store(frame.nmethod, std::memory_order_relaxed);
    entry.rest.store(rest, std::memory_order_relaxed);
    entry.check.store(pc ^ frame.nmethod ^ rest, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kEntries = 4096;
  struct alignas(32) Entry {
    std::atomic<std::uint64_t> check{0};
    std::atomic<std::uint64_t> nmethod{0};
    std::atomic<std::uint64_t> rest{0};
  };
  static std::size_t index_of(std::uint64_t pc) SIGNAL_SAFE { return (pc * 0x9e3779b97f4a7c15) >> 52; }
  static_assert(kEntries == std::size_t{1} << (64 - 52));

  Entry entries_[kEntries];
};

}  // namespace sonde::agent::hotspot
