// SPDX-License-Identifier: Apache-2.0
// What the sampler keeps for one thread of the process. Slots are made before the thread's first signal, used again
// for other threads after it has ended, and never freed: a signal that comes late finds memory that exists and, since
// the stack it runs on is not that of the slot's thread, goes away again.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/sampler/decoded_stack.h"
#include "agent/sampler/last_walk.h"
#include "agent/sampler/sample_ring.h"
#include "agent/sampler/stack_decoder.h"
#include "agent/session/sample_trees.h"

namespace sonde::agent {

struct ThreadSlot {
  // Set by [agent] before the first signal, read by [signal].
  pid_t tid = 0;
  std::uint64_t stack_low = 0;  // 0, 0: unknown; the handler asks the kernel for the thread's id instead
  std::uint64_t stack_high = 0;
  std::uint64_t java_thread = 0;  // JavaThread*; 0: a thread of the JVM itself
  void* jni_env = nullptr;

  // [signal] Not if the bounds are unknown.
  [[nodiscard]] bool has_on_stack(std::uint64_t stack_pointer) const SIGNAL_SAFE {
    return stack_pointer >= stack_low && stack_pointer < stack_high;
  }

  // From [signal] to [agent]: where the stack is of a thread whose bounds are not known.
  std::atomic<std::uint64_t> seen_sp{0};

  // Between the wall clock and [signal].
  std::atomic<std::uint64_t> pending_wall_ns{0};  // since the last sample: a signal may be late
  std::atomic<bool> cpu_moved{false};             // it used the CPU since the last visit

  // Of the CPU clock; the handler changes the period (CpuClock::vary).
  std::atomic<int> perf_fd{-1};
  KernelStack kernel;                 // of the event
  std::uint64_t period_ns = 0;        // CPU time that the next sample stands for
  std::uint32_t samples_to_vary = 0;  // until the period changes
  std::uint64_t random = 0;

  // Written by [signal] on the slot's thread.
  SampleRing ring;
  LastWalk last_walk;
  std::atomic<std::uint64_t> samples{0};  // that were written
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> dropped_ns{0};  // the time they stood for
  std::atomic<std::uint64_t> handler_ticks{0};

  // [agent] only.
  enum class State : std::uint8_t { kFree, kActive, kEnded };
  State state = State::kFree;
  bool is_internal = false;  // of the JVM: garbage collector, compiler
  std::string name;
  bool has_timer = false;
  timer_t timer = nullptr;
  clockid_t cpu_clock = 0;
  std::uint64_t judged_cpu_ns = 0;  // when it was last seen how the thread runs (CpuClock::suit)
  std::uint64_t judged_turns = 0;
  std::uint64_t cpu_ns_at_start = 0;
  std::uint64_t samples_at_start = 0;
  std::uint64_t cpu_ns = 0;                           // that the thread used while it was sampled, as last read
  std::uint32_t trees[2][arena::kThreadStates] = {};  // by kind and state; 0: none yet
  DecodedStack decoded;
  StackPath path;
  std::vector<StackMark> marks;  // of the stack in `path`, innermost first

  // Of the wall clock, with the lock of the slots.
  std::uint64_t last_anchor_sp = 0;
  std::uint64_t last_anchor_pc = 0;
  std::uint64_t last_cpu_ns = 0;
  bool was_sampled = false;
  std::uint64_t idle_samples = 0;  // to be counted at last_wall_node
  std::uint64_t idle_ns = 0;
  arena::SampleNode* last_wall_node = nullptr;  // with the lock of decoding
};

}  // namespace sonde::agent
