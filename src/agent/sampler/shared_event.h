// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. One perf event for all threads of a process: it is opened on the thread that creates the JVM,
// before there are others, and every thread inherits it from the one that makes it.
//
// The kernel starts and stops the events of a thread with each switch. Where both threads have inherited the same ones
// it lets them run on and swaps whose they are, which takes a quarter of the time and leaves no gap between two
// threads. A period is then one of CPU time of the process rather than of a thread.
//
// Nobody has a number for the event of one thread, so it cannot send SIGPROF to it, have a period of its own or show
// the kernel's stack: it sends SIGTRAP, always after the same period, and the handler finds its thread by itself.
#pragma once

#include <cstdint>

#include "base/signal_safe.h"

namespace sonde::agent {

class SharedEvent {
 public:
  SharedEvent() = default;
  ~SharedEvent() { close(); }
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  // For this thread and all that it and those will make; it does not run yet. False if the kernel refuses.
  bool open(std::uint64_t interval_ns);
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Otherwise the kernel's time is not sampled: perf_event_paranoid is 2.
  [[nodiscard]] bool has_kernel_time() const { return has_kernel_time_; }
  void enable() const;
  // No signal is sent after this, one may be under way. It cannot be opened again: other threads exist by now.
  void close();

  // [signal] Is this what a signal of such an event carries?
  static bool is_mark(const void* data) SIGNAL_SAFE;

 private:
  int fd_ = -1;
  bool has_kernel_time_ = false;
};

}  // namespace sonde::agent
