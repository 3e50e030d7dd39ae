// SPDX-License-Identifier: Apache-2.0
// Context: [agent], a thread of its own. Visits all Java threads at every tick. One that did something since the last
// visit gets a signal and writes its stack; one that stands where it stood is counted there again, which costs a few
// reads of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "agent/sampler/own_thread.h"
#include "agent/sampler/slot_table.h"
#include "agent/sampler/stoppable_wait.h"
#include "base/result.h"

namespace sonde::agent {

// Where a thread is, seen from outside; it may move meanwhile.
struct ThreadGlance {
  std::uint32_t state;      // JavaThreadState
  std::uint64_t anchor_sp;  // of the last Java frame, 0 while it runs Java code
  std::uint64_t anchor_pc;
};

class WallClock {
 public:
  struct Options {
    std::uint64_t interval_ns;
    // Null if the JVM's layout is not known: then the CPU time tells whether a thread moved.
    ThreadGlance (*glance)(std::uint64_t java_thread);
    // Counts what a thread's `idle` says at the stack of its last sample.
    std::function<void(ThreadSlot&)> count_idle;
  };

  WallClock(SlotTable& slots, std::mutex& slots_mutex) : slots_(slots), slots_mutex_(slots_mutex) {}

  Result<void> start(Options options);
  void stop();
  [[nodiscard]] const OwnThread& thread() const { return thread_; }

 private:
  void tick_until_stopped();
  void tick(std::uint64_t elapsed_ns);
  bool is_idle(ThreadSlot& slot, std::uint64_t elapsed_ns) const;
  static void signal(ThreadSlot& slot, std::uint64_t weight_ns);

  SlotTable& slots_;
  std::mutex& slots_mutex_;
  Options options_{};
  StoppableWait wait_;
  OwnThread thread_;
};

}  // namespace sonde::agent
