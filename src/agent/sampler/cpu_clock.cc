// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/cpu_clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "agent/sampler/perf_event.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

// Written by [agent] when events are opened and closed, read by [signal].
constinit std::atomic<ThreadSlot*> g_slot_by_fd[kMaxPerfFd] = {};

// Changing a period is a system call, so it is not done more often than this.
constexpr std::uint64_t kVaryEveryNs = 4'000'000;

// Others handle SIGTRAP, too: a library that reports crashes and comes after us would take our samples for those. Where
// samples are rare, what SIGTRAP saves is not worth that.
constexpr std::uint64_t kTrapsBelowNs = 500'000;

// From this interval on threads that switch often have timers. An event makes a switch dearer by 3 us.
constexpr std::uint64_t kMixedFromNs = 10'000'000;
constexpr std::uint64_t kJudgeEveryNs = 50'000'000;  // of CPU time
constexpr std::uint64_t kLongTurnNs = 500'000;
constexpr std::uint64_t kShortTurnNs = 250'000;

// So many periods without a sample, and a thread has not inherited the event of all.
constexpr std::uint64_t kMissedAfter = 50;

// How often the kernel has let a thread run; 0 if it does not tell.
std::uint64_t turns_of(pid_t tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  unsigned long long turns = 0;
  if (std::fscanf(file, "%*u %*u %llu", &turns) != 1) turns = 0;
  std::fclose(file);
  return turns;
}

std::uint32_t samples_to_vary(std::uint64_t interval_ns) SIGNAL_SAFE {
  return interval_ns >= kVaryEveryNs ? 1 : static_cast<std::uint32_t>(kVaryEveryNs / interval_ns);
}

// The kernel's name for the CPU clock of any thread of this process.
clockid_t cpu_clock_of(pid_t tid) { return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6U); }

// Files are the program's, not ours: beyond half of what it may open, timers do.
bool is_too_many(int fd) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd >= kMaxPerfFd;
  return fd >= kMaxPerfFd || static_cast<rlim_t>(fd) >= limit.rlim_cur / 2;
}

// Where addresses are hidden they are all zero (kptr_restrict), and those of a stack would have no names.
bool may_see_kernel_addresses() {
  std::FILE* file = std::fopen("/proc/kallsyms", "re");
  if (file == nullptr) return false;
  unsigned long long address = 0;
  const bool is_read = std::fscanf(file, "%llx", &address) == 1;
  std::fclose(file);
  return is_read && address != 0;
}

}  // namespace

ThreadSlot* slot_of_event(int fd) SIGNAL_SAFE {
  return fd >= 0 && fd < kMaxPerfFd ? g_slot_by_fd[fd].load(std::memory_order_acquire) : nullptr;
}

int CpuClock::open_event(pid_t tid, Source source, const ThreadSlot* slot) const {
  return open_perf_event(
      {.period_ns = interval_ns_,
       .tid = tid,
       .with_kernel_time = source == Source::kPerf || source == Source::kTrap || source == Source::kSharedTrap,
       .with_kernel_stack = has_kernel_frames_,
       .is_trap = source >= Source::kTrap,
       .trap_data = slot});
}

bool CpuClock::wants_traps(Wanted wanted, std::uint64_t interval_ns) {
  return wanted == Wanted::kTraps || (wanted == Wanted::kAny && interval_ns < kTrapsBelowNs);
}

CpuClock::Source CpuClock::choose(Wanted wanted, bool with_kernel_frames) {
  source_ = Source::kTimer;
  has_kernel_frames_ = false;
  may_mix_ = wanted == Wanted::kAny;
  if (wanted == Wanted::kTimer) return source_;
  const bool may_trap = wants_traps(wanted, interval_ns_) && has_good_traps();
  if (may_trap && shared_ != nullptr && shared_->is_open()) {
    return source_ = shared_->has_kernel_time() ? Source::kSharedTrap : Source::kSharedTrapUser;
  }
  for (const Source source : {Source::kTrap, Source::kPerf, Source::kTrapUser, Source::kPerfUser}) {
    if (!may_trap && source >= Source::kTrap) continue;
    const int fd = open_event(static_cast<pid_t>(syscall(SYS_gettid)), source, nullptr);
    if (fd < 0) continue;
    close(fd);
    source_ = source;
    break;
  }
  const bool has_kernel_time = source_ == Source::kPerf || source_ == Source::kTrap;
  has_kernel_frames_ = with_kernel_frames && has_kernel_time && may_see_kernel_addresses();
  return source_;
}

void CpuClock::unshare() {
  shared_->close();
  source_ = source_ == Source::kSharedTrap ? Source::kTrap : Source::kTrapUser;
}

void CpuClock::attach(ThreadSlot& slot) {
  slot.cpu_clock = cpu_clock_of(slot.tid);
  slot.cpu_ns_at_start = slot.last_cpu_ns = cpu_time_ns(slot);
  slot.cpu_ns = 0;
  slot.samples_at_start = slot.samples.load(std::memory_order_relaxed);
}

bool CpuClock::start(ThreadSlot& slot) const {
  if (is_shared()) return true;
  const bool is_old = mixes() && slot.cpu_ns_at_start >= kJudgeEveryNs;
  slot.judged_cpu_ns = is_old ? slot.cpu_ns_at_start : 0;
  slot.judged_turns = is_old ? turns_of(slot.tid) : 0;
  return (source_ != Source::kTimer && !mixes() && start_event(slot)) || start_timer(slot);
}

bool CpuClock::mixes() const {
  return may_mix_ && interval_ns_ >= kMixedFromNs && source_ != Source::kTimer && !has_kernel_frames_;
}

// Its event is the process's if it inherited it. A thread that nobody made who has it never gets a signal: a program
// may have threads before it has a JVM.
void CpuClock::start_if_missed(ThreadSlot& slot) const {
  if (slot.perf_fd.load(std::memory_order_relaxed) >= 0 || slot.has_timer) return;
  if (slot.samples.load(std::memory_order_relaxed) != slot.samples_at_start) return;
  if (cpu_time_ns(slot) < slot.cpu_ns_at_start + kMissedAfter * interval_ns_) return;
  if (!start_event(slot)) start_timer(slot);
}

void CpuClock::suit(ThreadSlot& slot) const {
  if (is_shared()) return start_if_missed(slot);
  if (!mixes()) return;
  const std::uint64_t used = cpu_time_ns(slot);
  if (used < slot.judged_cpu_ns + kJudgeEveryNs) return;
  const std::uint64_t turns = turns_of(slot.tid);
  const std::uint64_t turn = (used - slot.judged_cpu_ns) / (turns > slot.judged_turns ? turns - slot.judged_turns : 1);
  slot.judged_cpu_ns = used;
  slot.judged_turns = turns;
  if (slot.has_timer && turn >= kLongTurnNs) {
    stop(slot);
    if (!start_event(slot)) start_timer(slot);
  } else if (!slot.has_timer && turn < kShortTurnNs) {
    stop(slot);
    if (!start_timer(slot)) start_event(slot);
  }
}

bool CpuClock::start_event(ThreadSlot& slot) const {
  slot.period_ns = interval_ns_;
  slot.samples_to_vary = samples_to_vary(interval_ns_);
  slot.random = static_cast<std::uint64_t>(slot.tid) * 0x9e3779b97f4a7c15 ^ monotonic_ns();
  const int fd = open_event(slot.tid, source_, &slot);
  if (fd < 0) return false;
  const f_owner_ex owner{.type = F_OWNER_TID, .pid = slot.tid};
  if (is_too_many(fd) || (!traps() && (fcntl(fd, F_SETFL, O_ASYNC) != 0 || fcntl(fd, F_SETSIG, signal_) != 0 ||
                                       fcntl(fd, F_SETOWN_EX, &owner) != 0))) {
    close(fd);
    return false;
  }
  if (has_kernel_frames_) slot.kernel.map(fd);
  slot.perf_fd.store(fd, std::memory_order_relaxed);
  g_slot_by_fd[fd].store(&slot, std::memory_order_release);  // pairs with slot_of_event
  ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  return true;
}

bool CpuClock::start_timer(ThreadSlot& slot) const {
  slot.period_ns = interval_ns_;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_;
  event.sigev_value.sival_ptr = &slot;
  event._sigev_un._tid = slot.tid;
  if (timer_create(slot.cpu_clock, &event, &slot.timer) != 0) return false;
  slot.has_timer = true;
  const timespec interval{.tv_sec = static_cast<time_t>(interval_ns_ / 1'000'000'000),
                          .tv_nsec = static_cast<long>(interval_ns_ % 1'000'000'000)};
  const itimerspec times{.it_interval = interval, .it_value = interval};
  return timer_settime(slot.timer, 0, &times, nullptr) == 0;
}

void CpuClock::vary(ThreadSlot& slot, std::uint64_t interval_ns) SIGNAL_SAFE {
  const int fd = slot.perf_fd.load(std::memory_order_relaxed);
  if (fd < 0 || --slot.samples_to_vary != 0) return;
  slot.samples_to_vary = samples_to_vary(interval_ns);
  slot.random = slot.random * 6364136223846793005 + 1442695040888963407;
  // Three quarters to five quarters of the interval.
  std::uint64_t period = interval_ns * 3 / 4 + (slot.random >> 33) % (interval_ns / 2 + 1);
  if (syscall(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, &period) == 0) slot.period_ns = period;
}

void CpuClock::stop(ThreadSlot& slot) {
  // First of all handlers are to find no event: a file that is opened next has its number.
  if (const int fd = slot.perf_fd.exchange(-1); fd >= 0) {
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    g_slot_by_fd[fd].store(nullptr, std::memory_order_release);
    slot.kernel.unmap();
    close(fd);
  }
  if (slot.has_timer) {
    timer_delete(slot.timer);
    slot.has_timer = false;
  }
}

std::uint64_t CpuClock::sampled_ns_of_process() const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto to_ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1'000;
  };
  const bool is_user_only =
      source_ == Source::kPerfUser || source_ == Source::kTrapUser || source_ == Source::kSharedTrapUser;
  return to_ns(usage.ru_utime) + (is_user_only ? 0 : to_ns(usage.ru_stime));
}

std::uint64_t CpuClock::cpu_time_ns(const ThreadSlot& slot) { return clock_ns(slot.cpu_clock); }

}  // namespace sonde::agent
