// SPDX-License-Identifier: Apache-2.0
// Context: [signal], but for install, enable and disable. The handler of the sampling signals: it finds the slot of the
// thread it interrupts, walks the stack into the slot's ring, and returns. README.md lists everything it calls.
#pragma once

#include <csignal>
#include <cstdint>

#include "agent/sampler/slot_table.h"

namespace sonde::agent {

// Writes the frames of the interrupted thread behind `sample` and sets its depth, error and is_cut. Returns the address
// up to which the stack is that of native code, 0 if the thread runs Java code.
using Walk = std::uint64_t (*)(ThreadSlot& slot, const void* ucontext, RawSample& sample);

inline constexpr int kCpuSignal = SIGPROF;
inline constexpr int kWallSignal = SIGVTALRM;
inline constexpr int kTrapSignal = SIGTRAP;  // of CPU clocks that send it

struct HandlerOptions {
  SlotTable* slots;
  Walk walk;
  std::uint64_t cpu_interval_ns;
  bool with_native;  // copy the stack of native code
  bool with_traps;
};

// Puts the handler in place for the signals; what was there before still gets the signals that are not ours. It stays
// there for good: a signal that is under way when sampling stops would end the process if nobody handled it.
bool install_handler(const HandlerOptions& options);
void enable_handler();
// Returns when no handler runs any more. Until the clocks are stopped they interrupt for nothing.
void disable_handler();

// How many signals there were since the last call for threads that have no slot.
std::uint64_t take_samples_of_unknown_threads();

// The histogram of what handling one sample took.
inline constexpr std::size_t kCostBuckets = 160;
// Upper end of a bucket, in ticks of the time stamp counter.
std::uint64_t cost_bucket_end(std::size_t bucket);
std::uint64_t cost_bucket_count(std::size_t bucket);

}  // namespace sonde::agent
