// SPDX-License-Identifier: Apache-2.0
// Context: [signal], on the slot's own thread. Where the walk before met compiled frames, so that a walk that comes to
// a frame which was there before has to check the frames further out and not to find them again.
//
// What is kept is one run: frames that follow each other, each found by the frame size of the one before. The state of
// a walk is a program counter and a stack pointer; a frame's size follows from its nmethod. So when a walk is at a
// frame of the run with the same state, and each nmethod from there on is the same compilation, and each return address
// from there on is the same word at the same place, then a walk would come to the same frames: by induction from one
// frame to the next, each of them looked at. Nothing is believed because of what lies further out: old return addresses
// in a new and larger frame would look the same.
//
// The sample then refers to the sample before it in the ring (FrameKind::kSame).
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "base/signal_safe.h"

namespace sonde::agent {

class LastWalk {
 public:
  struct Frame {
    std::uint64_t sp;
    std::uint64_t pc;  // return address; it lies below sp
    std::uint64_t nmethod;
    std::uint32_t compile_id;
    // Entries of the sample from here to the run's outermost frame; while a walk goes on, the entry's number.
    std::uint32_t distance;
  };
  // Frames further in than this change from sample to sample and are not worth it.
  static constexpr std::uint32_t kFirst = 12;

  LastWalk() = default;
  ~LastWalk() {
    if (run_ != nullptr) munmap(run_, kBytes);
  }
  LastWalk(const LastWalk&) = delete;
  LastWalk& operator=(const LastWalk&) = delete;

  // [agent], before the first signal; without it nothing is kept. Memory is touched as it is used.
  void map() {
    forget();
    if (run_ != nullptr) return;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    run_ = static_cast<Frame*>(memory);
    fresh_ = run_ + kMax;
  }
  // [agent] The slot is another thread's.
  void forget() { count_ = fresh_count_ = 0; }

  // [agent] How much memory was used so far.
  [[nodiscard]] std::uint64_t touched() const { return std::uint64_t{most_} * 2 * sizeof(Frame); }

  void begin() SIGNAL_SAFE {
    cursor_ = count_;
    fresh_count_ = 0;
    is_closed_ = run_ == nullptr;
    same_at_ = kNone;
  }

  // A compiled frame that was noted as the sample's entry `number`, and is left by its size.
  void add(std::uint32_t number, const Frame& frame) SIGNAL_SAFE {
    if (is_closed_ || number < kFirst) return;
    if (fresh_count_ == kMax)
      is_closed_ = true;
    else {
      fresh_[fresh_count_] = frame;
      fresh_[fresh_count_++].distance = number;
    }
  }
  // What follows is not found by the size of the frame before.
  void interrupt() SIGNAL_SAFE {
    if (fresh_count_ < kShortest)
      fresh_count_ = 0;
    else
      is_closed_ = true;
  }

  // Frames of the walk before from this one on, outermost first; 0: it was not there, or is the last.
  std::uint32_t known_at(std::uint64_t pc, std::uint64_t sp) SIGNAL_SAFE {
    while (cursor_ > 0 && run_[cursor_ - 1].sp < sp) --cursor_;
    if (cursor_ < 2 || is_closed_) return 0;
    return run_[cursor_ - 1].sp == sp && run_[cursor_ - 1].pc == pc ? cursor_ : 0;
  }
  [[nodiscard]] const Frame& frame(std::uint32_t index) const SIGNAL_SAFE { return run_[index]; }
  // Frames below `index` may still be met.
  void differs_at(std::uint32_t index) SIGNAL_SAFE { cursor_ = index; }

  // All of the first `known` frames but the outermost are as they were: the sample's entry `number` stands for them.
  // Returns where they begin in the sample before, counted from its outermost entry.
  std::uint32_t reuse(std::uint32_t known, std::uint32_t number) SIGNAL_SAFE {
    same_at_ = number;
    count_ = known;
    cursor_ = 0;
    is_closed_ = true;
    return outside_ + 1 + run_[known - 1].distance;
  }

  // The walk is over and the sample has so many entries.
  void finish(std::uint32_t entries) SIGNAL_SAFE {
    if (same_at_ != kNone) {
      // From the known frame on inwards.
      const std::uint32_t known = run_[count_ - 1].distance;
      if (count_ + fresh_count_ > kMax) fresh_count_ = 0;
      for (std::uint32_t i = fresh_count_; i-- > 0;) {
        run_[count_] = fresh_[i];
        run_[count_++].distance = known + same_at_ - fresh_[i].distance;
      }
      outside_ = entries - (same_at_ + 2);
      most_ = std::max(most_, count_);
      return;
    }
    count_ = 0;
    if (fresh_count_ < kShortest) return;
    const std::uint32_t outermost = fresh_[fresh_count_ - 1].distance;
    for (std::uint32_t i = fresh_count_; i-- > 0;) {
      run_[count_] = fresh_[i];
      run_[count_++].distance = outermost - fresh_[i].distance;
    }
    outside_ = entries - (outermost + 1);
    most_ = std::max(most_, count_);
  }

 private:
  static constexpr std::uint32_t kMax = 2048;
  static constexpr std::uint32_t kShortest = 16;
  static constexpr std::size_t kBytes = 2 * kMax * sizeof(Frame);
  static constexpr std::uint32_t kNone = ~0U;

  Frame* run_ = nullptr;    // outermost first
  Frame* fresh_ = nullptr;  // of the walk that goes on, innermost first
  std::uint32_t count_ = 0;
  std::uint32_t fresh_count_ = 0;
  std::uint32_t cursor_ = 0;   // frames of the run that the walk has not passed yet
  std::uint32_t outside_ = 0;  // entries of the sample before beyond the run
  std::uint32_t most_ = 0;     // frames that there were in a run
  std::uint32_t same_at_ = kNone;
  bool is_closed_ = true;
};

}  // namespace sonde::agent
