// SPDX-License-Identifier: Apache-2.0
// What a switch between two threads costs with a perf event for each of them, with one that both inherited, and with
// none: they wake each other through pipes. CPU time of both per switch, and the part of it that samples stand for.
// On one core: `taskset -c 1 build/release/shared_event_bench`.
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "agent/sampler/perf_event.h"
#include "agent/sampler/shared_event.h"

namespace {

using sonde::agent::PerfEvent;

constexpr std::uint64_t kPeriodNs = 100'000;
constexpr int kRounds = 200'000;
std::atomic<std::uint64_t> g_samples{0};

void on_sample(int, siginfo_t*, void*) { g_samples.fetch_add(1, std::memory_order_relaxed); }

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_) != 0) std::abort();
  }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void wake() const {
    const char byte = 0;
    if (write(ends_[1], &byte, 1) != 1) std::abort();
  }
  void wait() const {
    char byte = 0;
    if (read(ends_[0], &byte, 1) != 1) std::abort();
  }

 private:
  int ends_[2] = {};
};

std::uint64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void start_own_event() {
  const int event = sonde::agent::open_perf_event({.period_ns = kPeriodNs, .is_trap = true});
  if (event < 0) std::perror("perf_event_open");
  ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

enum class Events { kNone, kOwn, kShared };

void measure(const char* name, Events events) {
  Pipe there;
  Pipe back;
  sonde::agent::SharedEvent shared;
  if (events == Events::kShared && !shared.open(kPeriodNs)) std::perror("perf_event_open");
  std::thread other([&] {
    if (events == Events::kOwn) start_own_event();
    for (int i = 0; i < kRounds; ++i) {
      there.wait();
      back.wake();
    }
  });
  if (events == Events::kShared) shared.enable();
  g_samples = 0;
  const std::uint64_t before = cpu_ns();
  for (int i = 0; i < kRounds; ++i) {
    there.wake();
    back.wait();
  }
  const auto used = static_cast<double>(cpu_ns() - before);
  other.join();
  std::printf("%-7s %6.2f us for a switch, samples of %.2f of the time\n", name, used / (2e3 * kRounds),
              static_cast<double>(g_samples.load()) * kPeriodNs / used);
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_sigaction = on_sample;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTRAP, &action, nullptr);
  // Events of their own stay with the main thread, so these come last.
  for (int round = 0; round < 3; ++round) {
    measure("none", Events::kNone);
    measure("shared", Events::kShared);
  }
  start_own_event();
  for (int round = 0; round < 3; ++round) measure("own", Events::kOwn);
}
