// SPDX-License-Identifier: Apache-2.0
// Context: one writer [signal], which may interrupt anything but itself; one reader at a time [agent].
// Samples of one thread on their way to the tree. Positions grow for ever; a place in memory is a position modulo
// kSize. A sample is never split: what does not fit before the end starts again at the front, and a header of size 0
// says so. A reader that finds nothing left moves the writer's position to the front, so that a thread touches as much
// memory as it fills between two visits and not the whole ring.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "agent/sampler/raw_sample.h"
#include "base/signal_safe.h"

namespace sonde::agent {

class SampleRing {
 public:
  static constexpr std::uint64_t kSize = 1 << 20;
  static_assert(kSize >= 4 * std::uint64_t{kMaxSampleSize});

  SampleRing() = default;
  ~SampleRing() {
    if (memory_ != nullptr) munmap(memory_, kSize);
  }
  SampleRing(const SampleRing&) = delete;
  SampleRing& operator=(const SampleRing&) = delete;

  // [agent], before the first signal. Memory is touched as it is used.
  bool map() {
    if (memory_ != nullptr) return true;
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::uint8_t*>(memory);
    return true;
  }

  // [signal] Room for the largest sample; null if the reader is too far behind.
  RawSample* try_reserve() SIGNAL_SAFE {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    reserved_ = written;
    if (kSize - written % kSize < kMaxSampleSize) {
      reserved_ = (written / kSize + 1) * kSize;
      at(written)->size = 0;
    }
    const std::uint64_t read = read_.load(std::memory_order_acquire);  // pairs with drain(): its reads come first
    // Beyond our position: the reader has just moved us to the front, and publish() will notice.
    if (read <= reserved_ && reserved_ + kMaxSampleSize - read > kSize) return nullptr;
    written_when_reserved_ = written;
    return at(reserved_);
  }

  // [signal] Hands over what try_reserve returned; its size is set.
  void publish(const RawSample* sample) SIGNAL_SAFE {
    std::uint64_t expected = written_when_reserved_;
    const std::uint32_t size = sample->size;
    // Release pairs with drain()'s acquire.
    if (written_.compare_exchange_strong(expected, reserved_ + size, std::memory_order_release,
                                         std::memory_order_relaxed)) {
      return;
    }
    // The reader found the ring empty and moved us to the front. It does so only once before it sees a sample.
    RawSample* front = at(expected);
    if (front != sample) std::memmove(front, sample, size);
    written_.store(expected + size, std::memory_order_release);
  }

  // [agent] Calls use(const RawSample&) for each sample in order, and tells how much of the ring they took.
  template <typename Use>
  std::uint64_t drain(const Use& use) {
    std::uint64_t written = written_.load(std::memory_order_acquire);  // pairs with publish()
    std::uint64_t read = read_.load(std::memory_order_relaxed);
    const std::uint64_t found = written - read;
    while (read < written) {
      const RawSample* sample = at(read);
      if (sample->size == 0) {
        read = (read / kSize + 1) * kSize;
        continue;
      }
      use(*sample);
      read += sample->size;
      read_.store(read, std::memory_order_release);  // pairs with try_reserve()
    }
    if (read % kSize == 0) return found;
    touched_ = std::max(touched_, read % kSize);
    const std::uint64_t front = (read / kSize + 1) * kSize;
    if (written_.compare_exchange_strong(written, front, std::memory_order_relaxed)) {
      read_.store(front, std::memory_order_release);
    }
    return found;
  }

  // [agent] How much of the memory was used so far.
  [[nodiscard]] std::uint64_t touched() const { return touched_; }

 private:
  [[nodiscard]] RawSample* at(std::uint64_t position) const noexcept {
    return reinterpret_cast<RawSample*>(memory_ + position % kSize);
  }

  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> read_{0};
  std::uint64_t touched_ = 0;  // of the reader
  // Of the writer, between try_reserve and publish.
  std::uint64_t reserved_ = 0;
  std::uint64_t written_when_reserved_ = 0;
};

}  // namespace sonde::agent
