// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_set>

#include "agent/sampler/kernel_threads.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSoon = 5 * kMillisecond;
constexpr std::uint64_t kInternalThreadsEvery = 200 * kMillisecond;

}  // namespace

Sampler::Sampler(SlotTable& slots, arena::Writer& arena, SampledMethods& methods, SampleTrees& trees,
                 const SamplerOptions& options)
    : arena_(arena),
      methods_(methods),
      options_(options),
      clock_(kCpuSignal, options.cpu_interval_ns, options.shared_event),
      slots_(slots),
      wall_(slots_, slots_mutex_),
      trees_(trees) {}

Result<void> Sampler::start(const Jvm& jvm) {
  if (!slots_.map()) return Error{ErrorCode::kIo, "no address space for the sampler's threads"};
  jvm_ = jvm;
  start_ns_ = monotonic_ns();
  start_ticks_ = __builtin_ia32_rdtsc();
  continuation_enter_ = methods_.id_of({.class_name = "jdk/internal/vm/Continuation",
                                        .source_file = "Continuation.java",
                                        .name = "enter",
                                        .descriptor = "(Ljdk/internal/vm/Continuation;Z)V"});
  arena::SamplingInfo& info = arena_.header().sampling;
  before_ = info;
  if (options_.cpu_interval_ns != 0) info.cpu_interval_ns = options_.cpu_interval_ns;
  if (options_.wall_interval_ns != 0) info.wall_interval_ns = options_.wall_interval_ns;
  // Faults are blocked while a trap is handled (signal_handler.cc), and AsyncGetCallTrace provokes some.
  const bool may_trap = jvm.walker == arena::Walker::kVmStructs || options_.clock == CpuClock::Wanted::kTimer;
  const CpuClock::Wanted clock = may_trap ? options_.clock : CpuClock::Wanted::kNoTraps;
  info.cpu_clock = static_cast<arena::CpuClockSource>(clock_.choose(clock, jvm.native != nullptr));
  if (options_.shared_event != nullptr && !clock_.is_shared()) options_.shared_event->close();
  looked_at_cpu_ns_ = clock_.sampled_ns_of_process();  // what the JVM took to start is no time without samples
  info.walker = jvm.walker;
  if (info.start_ns == 0) info.start_ns = start_ns_;
  if (!install_handler({.slots = &slots_,
                        .walk = jvm.walk,
                        .cpu_interval_ns = options_.cpu_interval_ns,
                        .with_native = jvm.native != nullptr,
                        .with_traps = options_.cpu_interval_ns != 0 && clock_.traps()})) {
    return Error{ErrorCode::kIo, "the sampling signals cannot be handled"};
  }
  enable_handler();
  is_running_ = true;
  if (!thread_.start("sonde", [this] { decode_until_stopped(); })) {
    return Error{ErrorCode::kIo, "the sampler's thread cannot be started"};
  }
  if (options_.wall_interval_ns == 0) return {};
  return wall_.start(
      {.interval_ns = options_.wall_interval_ns, .glance = jvm.glance, .count_idle = [this](ThreadSlot& slot) {
         const std::lock_guard lock(decoding_);
         drain_slot(slot);
       }});
}

void Sampler::begin_shared() {
  if (clock_.is_shared()) options_.shared_event->enable();
}

void Sampler::stop() {
  const std::lock_guard stopping_lock(stopping_);
  {
    const std::lock_guard lock(slots_mutex_);
    if (!is_running_) return;
    is_running_ = false;
  }
  wall_.stop();
  wait_.stop();
  thread_.join();
  disable_handler();
  {
    const std::lock_guard lock(slots_mutex_);
    slots_.for_each_in_use([](ThreadSlot& slot) { CpuClock::stop(slot); });
    if (options_.shared_event != nullptr) options_.shared_event->close();
  }
  count_unknown();
  drain();
  update_info();
  const std::lock_guard lock(slots_mutex_);
  slots_.clear();
}

void Sampler::start_clock(ThreadSlot& slot) {
  CpuClock::attach(slot);
  slot.period_ns = options_.cpu_interval_ns;
  slots_.publish(slot);
  // A thread that has ended meanwhile needs no clock.
  if (options_.cpu_interval_ns != 0 && !clock_.start(slot) && CpuClock::cpu_time_ns(slot) != 0) {
    arena_.count(Counter::kThreadsNotSampled);
  }
  if (clock_.has_kernel_frames() && slot.perf_fd.load() >= 0 && !slot.kernel.is_mapped()) {
    arena_.count(Counter::kThreadsWithoutKernelFrames);
  }
}

void Sampler::thread_started(const JavaThreadInfo& thread) {
  const std::lock_guard lock(slots_mutex_);
  if (!is_running_ || thread.tid == thread_.tid()) return;
  // A thread that was found by its number before the JVM told of it, or another one that had the same number.
  if (ThreadSlot* old = slots_.find(thread.tid)) end_slot(*old);
  ThreadSlot* slot = slots_.acquire(thread.tid);
  if (slot == nullptr) return arena_.count(Counter::kThreadsNotSampled);
  slot->name = thread.name;
  slot->java_thread = thread.java_thread;
  slot->jni_env = thread.jni_env;
  slot->stack_low = thread.stack_low;
  slot->stack_high = thread.stack_high;
  start_clock(*slot);
}

void Sampler::thread_ended(pid_t tid) {
  const std::lock_guard lock(slots_mutex_);
  if (ThreadSlot* slot = slots_.find(tid)) end_slot(*slot);
}

void Sampler::current_thread_ended() { thread_ended(static_cast<pid_t>(syscall(SYS_gettid))); }

// What is in its ring stays; the decoding thread takes it and frees the slot.
void Sampler::end_slot(ThreadSlot& slot) {
  if (const std::uint64_t used = CpuClock::cpu_time_ns(slot); used != 0) slot.cpu_ns = used - slot.cpu_ns_at_start;
  CpuClock::stop(slot);
  slots_.forget(slot);
  slots_.mark(slot);
}

void Sampler::decode_until_stopped() {
  if (jvm_.on_own_thread != nullptr) jvm_.on_own_thread();
  // An interval of 0 is none: less one it is the longest of all.
  const std::uint64_t interval = std::min(options_.cpu_interval_ns - 1, options_.wall_interval_ns - 1) + 1;
  // A ring holds thousands of samples, or dozens of deep stacks and copies of native ones. The more samples at once,
  // the more of what decoding needs is in the processor's caches already; but a collection waits until what there is
  // has been decoded.
  const bool has_copies = jvm_.native != nullptr;
  const std::uint64_t least = has_copies ? kSoon : 20 * kMillisecond;
  const std::uint64_t most = has_copies ? 50 * kMillisecond : 200 * kMillisecond;
  const std::uint64_t period = std::clamp(interval * 50, least, most);
  std::uint64_t internal_threads_at = 0;
  std::uint64_t fullest = 0;
  do {
    fullest = drain();
    const bool has_unknown = count_unknown();
    if (const std::uint64_t now = monotonic_ns(); has_unknown || now >= internal_threads_at) {
      find_internal_threads();
      unshare_if_much_is_missed();
      update_info();
      internal_threads_at = now + kInternalThreadsEvery;
    }
  } while (wait_.until(monotonic_ns() + (fullest > SampleRing::kSize / 4 ? kSoon : period)));
  if (jvm_.off_own_thread != nullptr) jvm_.off_own_thread();
}

// A thread that ends takes the begun period with it, its own or that of a thread which ran before it on its processor.
// Where so many end before their period does that less than two fifths of the time are sampled, each thread gets an
// event of its own, of which three quarters remain then.
void Sampler::unshare_if_much_is_missed() {
  const std::lock_guard decoding_lock(decoding_);
  if (!clock_.is_shared()) return;
  const std::uint64_t used = clock_.sampled_ns_of_process() - looked_at_cpu_ns_;
  arena::SamplingInfo& info = arena_.header().sampling;
  const std::uint64_t samples = info.cpu_samples + of_unknown_ - looked_at_samples_;
  if (used < std::max(300 * kMillisecond, 1'000 * options_.cpu_interval_ns)) return;
  looked_at_cpu_ns_ += used;
  looked_at_samples_ += samples;
  if (samples * options_.cpu_interval_ns > used / 5 * 2) return;
  const std::lock_guard lock(slots_mutex_);
  clock_.unshare();
  info.cpu_clock = static_cast<arena::CpuClockSource>(clock_.source());
  slots_.for_each_in_use([&](ThreadSlot& slot) {
    if (slot.state == ThreadSlot::State::kActive && slot.perf_fd.load() < 0 && !slot.has_timer) clock_.start(slot);
  });
}

bool Sampler::count_unknown() {
  const std::uint64_t samples = take_samples_of_unknown_threads();
  if (samples == 0) return false;
  arena_.count(Counter::kSamplesOfUnknownThreads, samples);
  const std::lock_guard lock(decoding_);
  of_unknown_ += samples;
  return true;
}

// Threads of the JVM itself: they make no Java events, so the kernel is asked. It also knows of Java threads that were
// about to end when sampling began, too late for an event.
void Sampler::find_internal_threads() {
  const std::vector<pid_t> tids = threads_of_process();
  const std::unordered_set<pid_t> alive(tids.begin(), tids.end());
  const std::lock_guard lock(slots_mutex_);
  if (!is_running_) return;
  slots_.for_each_in_use([&](ThreadSlot& slot) {
    // The list lacks threads that started after it was begun, and now and then one that was passed by while another
    // ended.
    if (slot.state != ThreadSlot::State::kActive) return;
    if (options_.cpu_interval_ns != 0) clock_.suit(slot);
    if (!alive.contains(slot.tid) && CpuClock::cpu_time_ns(slot) == 0) end_slot(slot);
  });
  for (const pid_t tid : tids) {
    if (tid == thread_.tid() || tid == wall_.thread().tid() || slots_.find(tid) != nullptr) continue;
    ThreadSlot* slot = slots_.acquire(tid);
    if (slot == nullptr) return arena_.count(Counter::kThreadsNotSampled);
    slot->name = kernel_name(tid);
    slot->is_internal = true;
    start_clock(*slot);
  }
}

// Of a thread of the JVM. From now on its stack tells the handler whose signal it has, and can be copied.
void Sampler::find_stack(ThreadSlot& slot) {
  const StackBounds bounds = jvm_.native->bounds_of(slot.seen_sp.load(std::memory_order_relaxed));
  slot.stack_low = bounds.low;
  std::atomic_thread_fence(std::memory_order_release);
  slot.stack_high = bounds.high;
}

void Sampler::update_info() {
  const std::lock_guard decoding_lock(decoding_);
  arena::SamplingInfo& info = arena_.header().sampling;
  const std::uint64_t elapsed_ns = monotonic_ns() - start_ns_;
  const double ns_per_tick =
      static_cast<double>(elapsed_ns) / static_cast<double>(__builtin_ia32_rdtsc() - start_ticks_);
  const auto to_ns = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
  };
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kCostBuckets; ++i) all += cost_bucket_count(i);
  std::uint64_t seen = 0;
  info.handler_p50_ns = info.handler_p99_ns = 0;
  for (std::size_t i = 0; i < kCostBuckets; ++i) {
    seen += cost_bucket_count(i);
    if (info.handler_p50_ns == 0 && seen * 2 >= all) info.handler_p50_ns = to_ns(cost_bucket_end(i));
    if (info.handler_p99_ns == 0 && seen * 100 >= all * 99) info.handler_p99_ns = to_ns(cost_bucket_end(i));
  }
  info.handler_ns = before_.handler_ns + to_ns(handler_ticks_);
  info.decoder_cpu_ns = before_.decoder_cpu_ns + thread_.cpu_ns() + wall_.thread().cpu_ns();
  const std::lock_guard lock(slots_mutex_);
  std::uint64_t cpu_ns = ended_cpu_ns_;
  info.memory_bytes = trees_.memory_bytes() + jvm_.decoder->memory_bytes() + slots_.memory_bytes() +
                      (jvm_.native != nullptr ? jvm_.native->memory_bytes() : 0);
  slots_.for_each_in_use([&](ThreadSlot& slot) {
    if (slot.state == ThreadSlot::State::kEnded) {
      cpu_ns += slot.cpu_ns;
    } else if (const std::uint64_t used = CpuClock::cpu_time_ns(slot); used != 0) {
      cpu_ns += used - slot.cpu_ns_at_start;
    }
  });
  info.thread_cpu_ns = before_.thread_cpu_ns + cpu_ns;
}

}  // namespace sonde::agent
