// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/signal_handler.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstring>
#include <iterator>

#include "agent/sampler/cpu_clock.h"
#include "agent/sampler/signal_check.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

// The one mutable global that the handler touches.
struct SamplerState {
  std::atomic<bool> enabled{false};
  std::atomic<int> in_flight{0};
  HandlerOptions options{};
  struct sigaction previous_cpu {};
  struct sigaction previous_wall {};
  struct sigaction previous_trap {};
  std::atomic<std::uint64_t> costs[kCostBuckets] = {};
  std::atomic<std::uint64_t> of_unknown_threads{0};
  std::atomic<const void*> passing_on[64] = {};  // contexts of signals that went to the handler before ours
};
constinit SamplerState g_sampler;

// stop() clears `enabled` and then waits for zero; the handler counts itself and then looks at `enabled`. Both are
// sequentially consistent, so one of them sees the other.
class InFlight {
 public:
  InFlight() SIGNAL_SAFE { g_sampler.in_flight.fetch_add(1); }
  ~InFlight() SIGNAL_SAFE { g_sampler.in_flight.fetch_sub(1); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
};

// What the C library's siginfo_t does not name (linux/siginfo.h, si_perf_data): the number that an event was opened
// with.
constexpr int kTrapOfEvent = 6;
constexpr std::size_t kTrapDataAt = 24;

// Whom a signal is for.
struct Addressee {
  bool is_ours = false;
  ThreadSlot* slot = nullptr;  // null: the thread that runs
};
Addressee to_slot(void* slot) SIGNAL_SAFE {
  if (!g_sampler.options.slots->contains(slot)) return {};
  return {.is_ours = true, .slot = static_cast<ThreadSlot*>(slot)};
}
Addressee addressee_of(const siginfo_t& info) SIGNAL_SAFE {
  if (info.si_signo == kTrapSignal) {
    if (info.si_code != kTrapOfEvent) return {};
    void* data = nullptr;
    std::memcpy(&data, reinterpret_cast<const std::uint8_t*>(&info) + kTrapDataAt, sizeof data);
    if (SharedEvent::is_mark(data)) return {.is_ours = true};
    return to_slot(data);
  }
  if (info.si_code == SI_TIMER || info.si_code == SI_QUEUE) return to_slot(info.si_value.sival_ptr);
  if (info.si_code != POLL_IN && info.si_code != POLL_HUP) return {};
  ThreadSlot* slot = slot_of_event(info.si_fd);
  return {.is_ours = slot != nullptr, .slot = slot};
}

// A signal may arrive after the slot went to another thread.
bool runs_on(const ThreadSlot& slot, std::uint64_t stack_pointer) SIGNAL_SAFE {
  if (slot.stack_high != 0) return slot.has_on_stack(stack_pointer);
  return slot.tid == static_cast<pid_t>(syscall(SYS_gettid));
}

// Null: there is none, or it is not the addressee's.
ThreadSlot* slot_of_this_thread(const Addressee& addressee, std::uint64_t stack_pointer) SIGNAL_SAFE {
  if (addressee.slot != nullptr) return runs_on(*addressee.slot, stack_pointer) ? addressee.slot : nullptr;
  ThreadSlot* slot = g_sampler.options.slots->of_this_thread(stack_pointer);
  if (slot == nullptr) g_sampler.of_unknown_threads.fetch_add(1, std::memory_order_relaxed);
  // Not twice, should a thread have an event of its own besides.
  return slot != nullptr && slot->perf_fd.load(std::memory_order_relaxed) >= 0 ? nullptr : slot;
}

// Four buckets for each doubling.
std::size_t cost_bucket(std::uint64_t ticks) SIGNAL_SAFE {
  if (ticks < 4) return ticks;
  const auto exponent = static_cast<std::size_t>(std::bit_width(ticks) - 1);
  const std::size_t bucket = (exponent - 1) * 4 + ((ticks >> (exponent - 2)) & 3);
  return bucket < kCostBuckets ? bucket : kCostBuckets - 1;
}

// The stack from its top to where Java begins, or to its end, as far as there is room.
void copy_native(ThreadSlot& slot, const ucontext_t& context, std::uint64_t end, RawSample& sample) SIGNAL_SAFE {
  const auto reg = [&](int number) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]); };
  const std::uint64_t sp = reg(REG_RSP) & ~std::uint64_t{7};
  if (slot.stack_high == 0) return slot.seen_sp.store(sp, std::memory_order_relaxed);
  if (end > slot.stack_high || end <= sp) return;
  const std::uint64_t size = std::min<std::uint64_t>(end - sp, kMaxNativeBytes);
  auto* native = reinterpret_cast<NativeStack*>(sample.frames() + sample.depth);
  *native = {.pc = reg(REG_RIP), .sp = sp, .fp = reg(REG_RBP)};
  std::memcpy(native->bytes(), reinterpret_cast<const void*>(sp), size);
  sample.native_size = static_cast<std::uint32_t>(sizeof(NativeStack) + (size & ~std::uint64_t{7}));
}

// `begin` is when the handler did.
void take_sample(ThreadSlot& slot, const siginfo_t& info, const ucontext_t& context, SampleKind kind,
                 std::uint64_t begin) SIGNAL_SAFE {
  // A timer that the kernel's tick holds back says how often it would have come.
  const std::uint32_t count = info.si_code == SI_TIMER ? 1 + static_cast<std::uint32_t>(info.si_overrun) : 1;
  const std::uint64_t weight_ns =
      kind == SampleKind::kCpu ? count * slot.period_ns : slot.pending_wall_ns.exchange(0, std::memory_order_relaxed);
  if (kind == SampleKind::kCpu) CpuClock::vary(slot, g_sampler.options.cpu_interval_ns);
  RawSample* sample = slot.ring.try_reserve();
  if (sample == nullptr) {
    slot.dropped.fetch_add(count, std::memory_order_relaxed);
    slot.dropped_ns.fetch_add(weight_ns, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t number = slot.samples.load(std::memory_order_relaxed) + 1;
  slot.samples.store(number, std::memory_order_relaxed);
  *sample = {.size = 0,
             .depth = 0,
             .kind = kind,
             .state = ThreadState::kRunning,
             .error = WalkError::kNone,
             .is_cut = 0,
             .is_virtual = 0,
             .reserved = 0,
             .count = count,
             .native_size = 0,
             .time_ns = monotonic_ns(),
             .weight_ns = weight_ns,
             .top_bcp = 0,
             .number = number,
             .same_at = 0,
             .same_first = 0,
             .same_count = 0,
             .kernel_depth = 0,
             .check = 0};
  const std::uint64_t native_end = g_sampler.options.walk(slot, &context, *sample);
  if (g_sampler.options.with_native && native_end != 0) copy_native(slot, context, native_end, *sample);
  if (kind == SampleKind::kCpu) sample->kernel_depth = slot.kernel.take(sample->kernel());
  sample->size = static_cast<std::uint32_t>(sizeof(RawSample) + sample->depth * sizeof(RawFrame)) +
                 sample->native_size + static_cast<std::uint32_t>(sample->kernel_depth * sizeof(std::uint64_t));
  slot.ring.publish(sample);
  g_sampler.options.slots->mark(slot);
  const std::uint64_t ticks = __builtin_ia32_rdtsc() - begin;
  slot.handler_ticks.fetch_add(ticks, std::memory_order_relaxed);
  g_sampler.costs[cost_bucket(ticks)].fetch_add(1, std::memory_order_relaxed);
}

// Somebody who came between two of our sessions may pass what is not his on to us, and we to him: once is enough.
void pass_on(const struct sigaction& previous, int signal, siginfo_t* info, void* context) {
  std::atomic<const void*>& passing =
      g_sampler.passing_on[reinterpret_cast<std::uint64_t>(context) / 4096 % std::size(g_sampler.passing_on)];
  if (passing.exchange(context) == context) return;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN && previous.sa_handler != nullptr) {
    previous.sa_handler(signal);
  }
  const void* expected = context;
  passing.compare_exchange_strong(expected, nullptr);
}

void handle(int signal, siginfo_t* info, void* ucontext, SampleKind kind, const struct sigaction& previous) {
  const ErrnoSaver errno_saver;
  const SignalScope scope;
  const std::uint64_t begin = __builtin_ia32_rdtsc();
  const Addressee addressee = addressee_of(*info);
  if (!addressee.is_ours) return pass_on(previous, signal, info, ucontext);
  const InFlight in_flight;
  if (!g_sampler.enabled.load()) return;
  const auto& context = *static_cast<const ucontext_t*>(ucontext);
  ThreadSlot* slot = slot_of_this_thread(addressee, static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RSP]));
  if (slot != nullptr) take_sample(*slot, *info, context, kind, begin);
}

void on_cpu_signal(int signal, siginfo_t* info, void* ucontext) {
  handle(signal, info, ucontext, SampleKind::kCpu, g_sampler.previous_cpu);
}
void on_wall_signal(int signal, siginfo_t* info, void* ucontext) {
  handle(signal, info, ucontext, SampleKind::kWall, g_sampler.previous_wall);
}
// A trap that is no sample, and that nobody wants, ends the process as it would have without us.
void on_trap(int signal, siginfo_t* info, void* ucontext) {
  if (info->si_code != kTrapOfEvent && g_sampler.previous_trap.sa_handler == SIG_DFL) {
    sigaction(signal, &g_sampler.previous_trap, nullptr);
    raise(signal);  // when the handler returns
    return;
  }
  handle(signal, info, ucontext, SampleKind::kCpu, g_sampler.previous_trap);
}

bool install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& previous) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  // One sample at a time: the ring has one writer.
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, kCpuSignal);
  sigaddset(&action.sa_mask, kWallSignal);
  sigaddset(&action.sa_mask, kTrapSignal);
  // The kernel takes a trap for the doing of an instruction. Where a page fault, which is how HotSpot stops a thread,
  // and the end of a period meet it enters our handler first, and would enter HotSpot's on top of it, for a fault at
  // our first instruction. Blocked, the fault waits until the thread is back where it happened.
  if (signal == kTrapSignal) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaddset(&action.sa_mask, fault);
  }
  struct sigaction present {};
  if (sigaction(signal, nullptr, &present) != 0) return false;
  if ((present.sa_flags & SA_SIGINFO) == 0 || present.sa_sigaction != handler) previous = present;
  return sigaction(signal, &action, nullptr) == 0;
}

}  // namespace

bool install_handler(const HandlerOptions& options) {
  g_sampler.options = options;
  for (std::atomic<std::uint64_t>& cost : g_sampler.costs) cost.store(0, std::memory_order_relaxed);
  g_sampler.of_unknown_threads.store(0, std::memory_order_relaxed);
  return install(kCpuSignal, on_cpu_signal, g_sampler.previous_cpu) &&
         install(kWallSignal, on_wall_signal, g_sampler.previous_wall) &&
         (!options.with_traps || install(kTrapSignal, on_trap, g_sampler.previous_trap));
}

void enable_handler() { g_sampler.enabled.store(true); }

std::uint64_t take_samples_of_unknown_threads() {
  return g_sampler.of_unknown_threads.exchange(0, std::memory_order_relaxed);
}

void disable_handler() {
  g_sampler.enabled.store(false);
  while (g_sampler.in_flight.load() != 0) sched_yield();
}

std::uint64_t cost_bucket_end(std::size_t bucket) {
  if (bucket < 4) return bucket + 1;
  const std::size_t exponent = bucket / 4 + 1;
  return (4 + bucket % 4 + 1) << (exponent - 2);
}

std::uint64_t cost_bucket_count(std::size_t bucket) { return g_sampler.costs[bucket].load(std::memory_order_relaxed); }

}  // namespace sonde::agent
