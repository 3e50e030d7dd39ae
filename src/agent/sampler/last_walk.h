// SPDX-License-Identifier: Apache-2.0
// Context: [signal], on the slot's own thread. Where the walk before met compiled frames, so that a walk that comes to
// a frame which was there before has to check the frames further out and not to find them again.
//
// What is kept is one run: frames that follow each other, each found by the size of the one before. The state of a walk
// is a program counter and a stack pointer, and a frame's size follows from its compilation. So when a walk is at a
// frame of the run with the same state, and each frame from there on is of the same compilation, and each return
// address is the same word at the same place, then a walk would come to the same frames: by induction from one frame to
// the next, each of them looked at. Nothing is believed because of what lies further out: old return addresses in a new
// and larger frame would look the same. Frames that are checked need not wait for each other, which is what makes it
// fast.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "base/signal_safe.h"

namespace sonde::agent {

class LastWalk {
 public:
  struct Frame {
    std::uint64_t sp;
    std::uint64_t pc;       // return address; it lies below sp
    std::uint64_t nmethod;  // in the code cache, whose memory is never given back
    std::uint32_t compile_id;
    std::uint32_t place;  // in its sample; once it belongs to the run, from here to the outermost frame of the run
  };

  LastWalk() = default;
  ~LastWalk() {
    if (run_ != nullptr) munmap(run_, kBytes);
  }
  LastWalk(const LastWalk&) = delete;
  LastWalk& operator=(const LastWalk&) = delete;

  // [agent], before the first signal of a thread. Memory is touched as it is used.
  bool map() {
    count_ = fresh_count_ = 0;
    if (run_ != nullptr) return true;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    run_ = static_cast<Frame*>(memory);
    fresh_ = run_ + kMax;
    return true;
  }

  void begin() SIGNAL_SAFE {
    cursor_ = count_;
    fresh_count_ = met_ = 0;
    is_closed_ = false;
  }

  // A compiled frame that is left by its size.
  void add(const Frame& frame) SIGNAL_SAFE {
    if (is_closed_) return;
    is_closed_ = fresh_count_ == kMax;
    if (!is_closed_) fresh_[fresh_count_++] = frame;
  }
  // What follows is not found by the size of the frame before.
  void interrupt() SIGNAL_SAFE {
    if (fresh_count_ >= kShortest) {
      is_closed_ = true;
    } else {
      fresh_count_ = 0;
    }
  }

  // How many frames of the walk before there are from this one on outwards; 0: it was not there, or is the last.
  std::uint32_t known_at(std::uint64_t pc, std::uint64_t sp) SIGNAL_SAFE {
    while (cursor_ > 0 && run_[cursor_ - 1].sp < sp) --cursor_;
    if (cursor_ < 2 || is_closed_) return 0;
    return run_[cursor_ - 1].sp == sp && run_[cursor_ - 1].pc == pc ? cursor_ : 0;
  }
  // Where the sample of the walk before has the frame with this index.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t index) const SIGNAL_SAFE {
    return outermost_place_ - run_[index].place;
  }
  // Outermost first.
  [[nodiscard]] const Frame& frame(std::uint32_t index) const SIGNAL_SAFE { return run_[index]; }
  // Those from `index` on are not what they were; frames further out may still be met.
  void differs_at(std::uint32_t index) SIGNAL_SAFE { cursor_ = index; }
  // The first `known` frames are what they were, and the walk goes on at the outermost of them. In the sample the
  // innermost of them is at `place`.
  void reuse(std::uint32_t known, std::uint32_t place) SIGNAL_SAFE {
    outermost_place_ = place + run_[known - 1].place;
    met_ = known;
    cursor_ = 0;
    is_closed_ = true;
  }

  // The walk is over.
  void finish() SIGNAL_SAFE {
    if (met_ + fresh_count_ < kShortest || met_ + fresh_count_ > kMax) fresh_count_ = 0;
    count_ = met_;
    if (met_ == 0 && fresh_count_ > 0) outermost_place_ = fresh_[fresh_count_ - 1].place;
    for (std::uint32_t i = fresh_count_; i-- > 0;) {
      run_[count_] = fresh_[i];
      run_[count_++].place = outermost_place_ - fresh_[i].place;
    }
  }

  // [agent] How much of the memory was used so far, about.
  [[nodiscard]] std::uint64_t touched() const { return 2 * count_ * sizeof(Frame); }

 private:
  static constexpr std::uint32_t kMax = 2048;
  static constexpr std::uint32_t kShortest = 4;
  static constexpr std::uint64_t kBytes = 2 * kMax * sizeof(Frame);

  Frame* run_ = nullptr;    // outermost first
  Frame* fresh_ = nullptr;  // of the walk that goes on, innermost first
  std::uint32_t count_ = 0;
  std::uint32_t fresh_count_ = 0;
  std::uint32_t cursor_ = 0;           // frames of the run that the walk has not passed yet
  std::uint32_t met_ = 0;              // frames of the run that are there again
  std::uint32_t outermost_place_ = 0;  // of the run's outermost frame, in its sample
  bool is_closed_ = true;
};

}  // namespace sonde::agent
