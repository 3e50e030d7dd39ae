// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Makes a thread get a signal each time it has used so much CPU time. Where the kernel permits, that
// is a perf event (cpu-clock) on the thread; otherwise a POSIX timer on the thread's CPU clock, which cannot be faster
// than the kernel's tick but tells how many ticks a signal stands for.
//
// Where sampling begins with the JVM, and samples come by SIGTRAP, all threads have one event (shared_event.h).
//
// A perf event sends its signal in one of two ways. As a trap (SIGTRAP, perf_event_attr::sigtrap) it is raised where
// the kernel returns to the thread anyway. As news of a file (SIGPROF, F_SETSIG) it takes another interrupt first,
// which on virtual machines is dear.
//
// An event is started and stopped with each switch of threads, which a timer is not. Where samples are rare that is
// what costs most, so threads that run for a moment at a time have timers then (suit). They do not run long enough to
// be in step with the tick.
#pragma once

#include <cstdint>

#include "agent/sampler/shared_event.h"
#include "agent/sampler/thread_slot.h"

namespace sonde::agent {

class CpuClock {
 public:
  enum class Source : std::uint8_t {
    kPerf = 1,      // with time in the kernel
    kPerfUser = 2,  // the kernel's time is not sampled: perf_event_paranoid is 2
    kTimer = 3,
    kTrap = 4,  // as kPerf and kPerfUser, by SIGTRAP
    kTrapUser = 5,
    kSharedTrap = 6,  // the same by one event for all threads
    kSharedTrapUser = 7,
  };
  enum class Wanted : std::uint8_t { kAny, kTraps, kNoTraps, kTimer };

  CpuClock(int signal, std::uint64_t interval_ns, SharedEvent* shared)
      : signal_(signal), interval_ns_(interval_ns), shared_(shared) {}

  // Do samples come by SIGTRAP if the kernel permits it?
  static bool wants_traps(Wanted wanted, std::uint64_t interval_ns);
  // Finds out what this process may use. Frames of the kernel come with samples if they are wanted and may be seen.
  Source choose(Wanted wanted, bool with_kernel_frames);
  [[nodiscard]] Source source() const { return source_; }
  [[nodiscard]] bool has_kernel_frames() const { return has_kernel_frames_; }
  [[nodiscard]] bool traps() const { return source_ == Source::kTrap || source_ == Source::kTrapUser || is_shared(); }
  [[nodiscard]] bool is_shared() const { return source_ == Source::kSharedTrap || source_ == Source::kSharedTrapUser; }

  // No event is shared any more; all slots are to be started again.
  void unshare();

  // From now on cpu_time_ns tells the time of the slot's thread, which may be any of this process.
  static void attach(ThreadSlot& slot);
  // False if neither way works.
  bool start(ThreadSlot& slot) const;
  // Another kind of clock for a thread that has shown how it runs, or that it has none; to be called now and then.
  void suit(ThreadSlot& slot) const;
  // No signal is sent after this; one may be under way.
  static void stop(ThreadSlot& slot);

  // [signal] On the slot's thread, with each sample: now and then another period, by chance and around the interval. A
  // program whose own loop takes about as long as a few intervals would otherwise be met at the same few places of it.
  static void vary(ThreadSlot& slot, std::uint64_t interval_ns) SIGNAL_SAFE;

  // CPU time of all threads so far, that of the kernel only if it is sampled.
  [[nodiscard]] std::uint64_t sampled_ns_of_process() const;
  // CPU time the thread has used since it started; 0 if it has ended.
  static std::uint64_t cpu_time_ns(const ThreadSlot& slot);

 private:
  // One event for one thread.
  int open_event(pid_t tid, Source source, const ThreadSlot* slot) const;
  bool start_event(ThreadSlot& slot) const;
  bool start_timer(ThreadSlot& slot) const;
  void start_if_missed(ThreadSlot& slot) const;
  // Samples are so rare that it matters how threads run, and events may be had but were not asked for.
  [[nodiscard]] bool mixes() const;

  int signal_;
  std::uint64_t interval_ns_;
  SharedEvent* shared_;  // null: there is none
  Source source_ = Source::kTimer;
  bool has_kernel_frames_ = false;
  bool may_mix_ = false;
};

// The thread a perf event belongs to, for the handler, which is told the event's file descriptor.
inline constexpr int kMaxPerfFd = 65536;
ThreadSlot* slot_of_event(int fd) SIGNAL_SAFE;

}  // namespace sonde::agent
