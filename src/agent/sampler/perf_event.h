// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. The kernel's clock of CPU time as a perf event: after each period the thread gets a signal.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sonde::agent {

struct PerfEvent {
  std::uint64_t period_ns;
  pid_t tid = 0;                 // 0: this thread
  bool with_kernel_time = true;  // not permitted where perf_event_paranoid is 2
  bool with_kernel_stack = false;
  bool is_trap = false;  // it sends SIGTRAP, with `trap_data`; else whatever its file is told to send
  const void* trap_data = nullptr;
  bool is_inherited = false;  // threads that the thread makes have it, too
};

// Its file, not enabled yet; less than 0: the kernel refuses.
int open_perf_event(const PerfEvent& event);

// Kernels before 6.11 take the interrupt for a trap, too, and some of them end a process that blocks SIGTRAP.
bool has_good_traps();

}  // namespace sonde::agent
