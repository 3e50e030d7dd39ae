// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/wall_clock.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/sampler/cpu_clock.h"
#include "agent/sampler/signal_handler.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

constexpr std::uint32_t kThreadBlocked = 10;  // JavaThreadState: waits for something in the JVM
// Less CPU time than this between two visits is the price of the visit.
constexpr std::uint64_t kNoCpuNs = 20'000;

}  // namespace

Result<void> WallClock::start(Options options) {
  options_ = std::move(options);
  if (thread_.start("sonde-wall", [this] { tick_until_stopped(); })) return {};
  return Error{ErrorCode::kIo, "the thread of the wall clock cannot be started"};
}

void WallClock::stop() {
  wait_.stop();
  thread_.join();
}

void WallClock::tick_until_stopped() {
  std::uint64_t last = monotonic_ns();
  // Ticks that were missed are not made up for: samples stand for the time since the last one.
  while (wait_.until(last + options_.interval_ns)) {
    const std::uint64_t now = monotonic_ns();
    tick(now - last);
    last = now;
  }
}

void WallClock::tick(std::uint64_t elapsed_ns) {
  std::vector<ThreadSlot*> moved;
  {
    // With the lock no thread ends, so what the slots point to is there.
    const std::lock_guard lock(slots_mutex_);
    slots_.for_each_in_use([&](ThreadSlot& slot) {
      if (slot.state != ThreadSlot::State::kActive || slot.is_internal) return;
      if (is_idle(slot, elapsed_ns)) {
        ++slot.idle_samples;
        slot.idle_ns += elapsed_ns;
        slots_.mark(slot);
      } else if (slot.idle_samples != 0) {
        moved.push_back(&slot);
      } else {
        signal(slot, elapsed_ns);
      }
    });
  }
  // What was idle belongs to the stack before the one that is sampled now.
  for (ThreadSlot* slot : moved) options_.count_idle(*slot);
  if (moved.empty()) return;
  const std::lock_guard lock(slots_mutex_);
  for (ThreadSlot* slot : moved) {
    if (slot->state == ThreadSlot::State::kActive) signal(*slot, elapsed_ns);
  }
}

bool WallClock::is_idle(ThreadSlot& slot, std::uint64_t elapsed_ns) const {
  const ThreadGlance glance =
      options_.glance != nullptr && slot.java_thread != 0 ? options_.glance(slot.java_thread) : ThreadGlance{};
  const bool stands = glance.anchor_sp == slot.last_anchor_sp && glance.anchor_pc == slot.last_anchor_pc;
  slot.last_anchor_sp = glance.anchor_sp;
  slot.last_anchor_pc = glance.anchor_pc;
  if (stands && glance.anchor_sp != 0 && glance.state == kThreadBlocked && slot.was_sampled) return true;
  // In Java, in native code or unknown: the CPU time tells.
  const std::uint64_t cpu = CpuClock::cpu_time_ns(slot);
  const std::uint64_t used = cpu - std::min(cpu, slot.last_cpu_ns);
  slot.last_cpu_ns = cpu;
  // A thread that has just come to rest is sampled once more, as one that waits.
  const bool was_moving = slot.cpu_moved.exchange(used >= elapsed_ns / 10, std::memory_order_relaxed);
  return slot.was_sampled && !was_moving && stands && used < kNoCpuNs &&
         (glance.anchor_sp != 0 || options_.glance == nullptr);
}

void WallClock::signal(ThreadSlot& slot, std::uint64_t weight_ns) {
  slot.pending_wall_ns.fetch_add(weight_ns, std::memory_order_relaxed);
  slot.was_sampled = true;
  siginfo_t info{};
  info.si_signo = kWallSignal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = &slot;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), slot.tid, kWallSignal, &info);
}

}  // namespace sonde::agent
