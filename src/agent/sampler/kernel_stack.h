// SPDX-License-Identifier: Apache-2.0
// Context: [agent] maps and unmaps, [signal] takes, on the thread that the event belongs to. Where in the kernel a
// thread was when its time was up: in a system call, or in a page fault of any instruction. The kernel writes the
// addresses into pages that are shared with it, and signals when the thread goes back to the program.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>

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
    pages_ = static_cast<std::uint8_t*>(pages);
    return true;
  }
  // No signal of the event may be under way.
  void unmap() {
    if (pages_ != nullptr) munmap(pages_, kBytes);
    pages_ = nullptr;
  }
  [[nodiscard]] bool is_mapped() const { return pages_ != nullptr; }

  // Writes the newest addresses, innermost first, and returns how many; 0 if the thread was not in the kernel.
  std::uint16_t take(std::uint64_t* addresses) SIGNAL_SAFE {
    if (pages_ == nullptr) return 0;
    auto& control = *reinterpret_cast<perf_event_mmap_page*>(pages_);
    const std::uint64_t head = __atomic_load_n(&control.data_head, __ATOMIC_ACQUIRE);
    std::uint64_t newest = head;
    for (std::uint64_t at = control.data_tail; at < head;) {
      const perf_event_header header = read_header(at);
      if (header.size == 0) break;
      if (header.type == PERF_RECORD_SAMPLE) newest = at;
      at += header.size;
    }
    const std::uint16_t count = newest == head ? std::uint16_t{0} : copy(newest + sizeof(perf_event_header), addresses);
    __atomic_store_n(&control.data_tail, head, __ATOMIC_RELEASE);  // the kernel may write there again
    return count;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBytes = 2 * kPage;  // what the kernel says, and one page of records

  // Records are multiples of eight bytes and go on at the front of the page.
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const SIGNAL_SAFE {
    std::uint64_t value = 0;
    std::memcpy(&value, pages_ + kPage + at % kPage, sizeof value);
    return value;
  }
  [[nodiscard]] perf_event_header read_header(std::uint64_t at) const SIGNAL_SAFE {
    const std::uint64_t value = word(at);
    perf_event_header header{};
    std::memcpy(&header, &value, sizeof header);
    return header;
  }

  // A number of addresses, and these; among them marks that say whose they are.
  [[nodiscard]] std::uint16_t copy(std::uint64_t at, std::uint64_t* addresses) const SIGNAL_SAFE {
    const std::uint64_t all = word(at);
    std::uint16_t count = 0;
    for (std::uint64_t i = 1; i <= all && i < kPage / 8 && count < kMaxKernelDepth; ++i) {
      const std::uint64_t address = word(at + i * 8);
      if (address < PERF_CONTEXT_MAX) addresses[count++] = address;
    }
    return count;
  }

  std::uint8_t* pages_ = nullptr;
};

}  // namespace sonde::agent
