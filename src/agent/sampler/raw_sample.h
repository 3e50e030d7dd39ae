// SPDX-License-Identifier: Apache-2.0
// Context: written by [signal], read by [agent]. What a handler notes of a sample: numbers whose meaning is found out
// later. Frames lie behind the header, innermost first; behind them, if native frames are wanted and the thread was not
// in Java, a NativeStack, and addresses in the kernel. Frames that the thread's sample before had, too, are not written
// again: the header says which they are, and whoever reads keeps the sample before (decoded_stack.h).
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "agent/sampler/kernel_stack.h"
#include "arena/layout.h"
#include "base/signal_safe.h"

namespace sonde::agent {

using SampleKind = arena::SampleTreeKind;
using arena::ThreadState;

// Why a stack is not complete. Each has a counter and a frame that shows it.
enum class WalkError : std::uint8_t {
  kNone = 0,
  kNoJavaFrames,       // the thread runs no Java code at all: not a failure
  kUnknownCode,        // the program counter is in no code the walker knows
  kUnwalkable,         // the frames do not lead to the start of the thread
  kGarbageCollection,  // AsyncGetCallTrace refuses while a collection is on
  kDeoptimizing,
  kThreadExiting,
  kFrozen,  // of a virtual thread: callers lie in the heap and come back to the stack when they are returned to
};

enum class FrameKind : std::uint8_t {
  kJmethodId = 1,    // what: jmethodID; detail: bytecode index (signed 32 bit)
  kCompiled = 2,     // what: return address; detail: compile id of the nmethod, which an address may outlive
  kInterrupted = 8,  // the same of the innermost frame; what: the instruction that would have been next
  kInterpreted = 3,  // what: Method*, of which nothing could be noted; detail: bytecode pointer
  kNative = 4,       // what: program counter
  kStub = 5,         // what: program counter in the code cache, not an nmethod
  kLogged = 7,       // what: place of a method in hotspot::MethodLog; detail: bytecode pointer
  kMark = 6,         // no frame: the stack pointer of the next one, the first beyond a multiple of kMarkEvery bytes
};

struct RawFrame {
  std::uint64_t what;
  std::uint64_t detail;  // FrameKind in the top byte

  bool operator==(const RawFrame&) const = default;
  [[nodiscard]] FrameKind kind() const { return static_cast<FrameKind>(detail >> 56); }
  [[nodiscard]] std::uint64_t value() const { return detail & 0x00ffffffffffffff; }
  static RawFrame make(FrameKind kind, std::uint64_t what, std::uint64_t value) noexcept {
    return {.what = what, .detail = static_cast<std::uint64_t>(kind) << 56 | (value & 0x00ffffffffffffff)};
  }
};
static_assert(sizeof(RawFrame) == 16);

// A copy of the innermost part of a stack.
struct NativeStack {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t fp;
  [[nodiscard]] const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(this + 1); }
  [[nodiscard]] std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};
inline constexpr std::uint32_t kMaxNativeBytes = 16 << 10;

struct RawSample {
  std::uint32_t size;   // with the frames; 0: nothing more before the end of the ring
  std::uint16_t depth;  // frames of its own
  SampleKind kind;
  ThreadState state;
  WalkError error;
  std::uint8_t is_cut;      // there were more frames than kMaxDepth
  std::uint8_t is_virtual;  // the walk ended where a virtual thread begins
  std::uint8_t reserved;
  std::uint32_t count;        // signals this one stands for: timers merge what the thread did not take in time
  std::uint32_t native_size;  // of the NativeStack with its bytes; 0: there is none
  std::uint64_t time_ns;      // CLOCK_MONOTONIC
  std::uint64_t weight_ns;
  std::uint64_t top_bcp;  // where the interpreter keeps the bytecode pointer of the innermost frame; else anything
  std::uint64_t number;   // one more than that of the thread's sample before
  // After `same_at` frames of its own, `same_count` of the sample before, from its frame `same_first` on.
  std::uint16_t same_at;
  std::uint16_t same_first;
  std::uint16_t same_count;
  std::uint16_t kernel_depth;  // addresses in the kernel, innermost first
  std::uint64_t check;  // with assertions on, check_sum() of all frames, found without the sample before; 0: none

  [[nodiscard]] std::uint32_t full_depth() const SIGNAL_SAFE { return std::uint32_t{depth} + same_count; }
  [[nodiscard]] const RawFrame* frames() const { return reinterpret_cast<const RawFrame*>(this + 1); }
  [[nodiscard]] RawFrame* frames() { return reinterpret_cast<RawFrame*>(this + 1); }
  [[nodiscard]] const NativeStack* native() const {
    return native_size == 0 ? nullptr : reinterpret_cast<const NativeStack*>(frames() + depth);
  }
  [[nodiscard]] const std::uint64_t* kernel() const {
    return reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const std::uint8_t*>(frames() + depth) +
                                                  native_size);
  }
  [[nodiscard]] std::uint64_t* kernel() { return const_cast<std::uint64_t*>(std::as_const(*this).kernel()); }
};
static_assert(sizeof(RawSample) % 8 == 0);

inline constexpr std::uint32_t kMaxDepth = 2048;
// Of a thread's samples, one in so many has no frames from the one before: what is broken does not stay so for ever.
inline constexpr std::uint64_t kWholeEvery = 64;
inline constexpr std::uint64_t kMarkEvery = 16 << 10;
inline constexpr std::uint32_t kMaxSampleSize = sizeof(RawSample) + kMaxDepth * sizeof(RawFrame) + sizeof(NativeStack) +
                                                kMaxNativeBytes + kMaxKernelDepth * sizeof(std::uint64_t);

// Tells stacks apart. Not 0. Whether a method is in the log, and where, depends on what other threads noted meanwhile.
inline std::uint64_t check_sum(std::span<const RawFrame> frames) SIGNAL_SAFE {
  std::uint64_t sum = frames.size();
  for (const RawFrame& frame : frames) {
    const bool is_interpreted = frame.kind() == FrameKind::kLogged || frame.kind() == FrameKind::kInterpreted;
    sum = sum * 0x9e3779b97f4a7c15 + (is_interpreted ? frame.value() : frame.what + frame.detail);
  }
  return sum != 0 ? sum : 1;
}

}  // namespace sonde::agent
