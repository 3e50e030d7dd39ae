// SPDX-License-Identifier: Apache-2.0
// Context: [agent] maps and unmaps, [signal] takes, on the thread that the event belongs to. Where in the kernel a
// thread was when its time was up: in a system call, or in a page fault of any instruction. The kernel writes the
// addresses into pages that are shared with it, and signals when the thread goes back to the program.
#pragma once

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/signal_safe.h"

namespace sonde::agent {

inline constexpr std::uint16_t kMaxKernelDepth = 64;

class KernelStack {
 public:
  KernelStack() = default;
  ~KernelStack() { unmap(); }
  KernelStack(const KernelStack&) = delete;
  KernelStack& operator=(const KernelStack&) = delete;

  // Of a perf event that was opened with PERF_SAMPLE_CALLCHAIN. False if the process has as many such pages as it may.
  bool map(int event) {
    void* pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (pages == MAP_FAILED) return false;
    pages_.store(static_cast<std::uint8_t*>(pages));
    return true;
  }
  // On any thread, whatever the event's thread is doing: a slot may be given up by somebody else. Either take sees no
  // pages, or we see that it is at work and wait; all of it is sequentially consistent.
  void unmap() {
    std::uint8_t* pages = pages_.exchange(nullptr);
    if (pages == nullptr) return;
    while (is_taking_.load()) sched_yield();
    munmap(pages, kBytes);
  }
  [[nodiscard]] bool is_mapped() const { return pages_.load() != nullptr; }

  // Writes the newest addresses, innermost first, and returns how many; 0 if the thread was not in the kernel.
  std::uint16_t take(std::uint64_t* addresses) SIGNAL_SAFE {
    if (pages_.load(std::memory_order_relaxed) == nullptr) return 0;  // as it is for most
    is_taking_.store(true);
    std::uint8_t* pages = pages_.load();
    const std::uint16_t count = pages == nullptr ? std::uint16_t{0} : take_from(pages, addresses);
    is_taking_.store(false);
    return count;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBytes = 2 * kPage;  // what the kernel says, and one page of records

  static std::uint16_t take_from(std::uint8_t* pages, std::uint64_t* addresses) SIGNAL_SAFE {
    auto& control = *reinterpret_cast<perf_event_mmap_page*>(pages);
    const std::uint64_t head = __atomic_load_n(&control.data_head, __ATOMIC_ACQUIRE);
    std::uint64_t newest = head;
    for (std::uint64_t at = control.data_tail; at < head;) {
      const perf_event_header header = read_header(pages, at);
      if (header.size == 0) break;
      if (header.type == PERF_RECORD_SAMPLE) newest = at;
      at += header.size;
    }
    const std::uint16_t count =
        newest == head ? std::uint16_t{0} : copy(pages, newest + sizeof(perf_event_header), addresses);
    __atomic_store_n(&control.data_tail, head, __ATOMIC_RELEASE);  // the kernel may write there again
    return count;
  }

  // Records are multiples of eight bytes and go on at the front of the page.
  static std::uint64_t word(const std::uint8_t* pages, std::uint64_t at) SIGNAL_SAFE {
    std::uint64_t value = 0;
    std::memcpy(&value, pages + kPage + at % kPage, sizeof value);
    return value;
  }
  static perf_event_header read_header(const std::uint8_t* pages, std::uint64_t at) SIGNAL_SAFE {
    const std::uint64_t value = word(pages, at);
    perf_event_header header{};
    std::memcpy(&header, &value, sizeof header);
    return header;
  }

  // A number of addresses, and these; among them marks that say whose they are.
  static std::uint16_t copy(const std::uint8_t* pages, std::uint64_t at, std::uint64_t* addresses) SIGNAL_SAFE {
    const std::uint64_t all = word(pages, at);
    std::uint16_t count = 0;
    for (std::uint64_t i = 1; i <= all && i < kPage / 8 && count < kMaxKernelDepth; ++i) {
      const std::uint64_t address = word(pages, at + i * 8);
      if (address < PERF_CONTEXT_MAX) addresses[count++] = address;
    }
    return count;
  }

  std::atomic<std::uint8_t*> pages_ = nullptr;
  std::atomic<bool> is_taking_ = false;  // set by take alone, which runs on one thread
};

}  // namespace sonde::agent
