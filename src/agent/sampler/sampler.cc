// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/sampler.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include "base/clock.h"

namespace sonde::agent {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kInternalThreadsEvery = 200 * kMillisecond;

// How the kernel calls a thread, at most 15 characters: "GC Thread#0".
std::string kernel_name(pid_t tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return "";
  char name[64] = {};
  if (std::fgets(name, sizeof name, file) == nullptr) name[0] = 0;
  std::fclose(file);
  std::string text(name);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> tids;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return tids;
  while (const dirent* entry = readdir(folder)) {
    if (const int tid = std::atoi(entry->d_name); tid > 0) tids.push_back(tid);
  }
  closedir(folder);
  return tids;
}

struct Failure {
  const char* frame;
  Counter counter;
};
Failure failure_of(WalkError error) {
  switch (error) {
    case WalkError::kUnknownCode: return {"[unknown code]", Counter::kStacksUnknownCode};
    case WalkError::kGarbageCollection: return {"[garbage collection]", Counter::kStacksDuringCollection};
    case WalkError::kDeoptimizing: return {"[deoptimizing]", Counter::kStacksDeoptimizing};
    case WalkError::kThreadExiting: return {"[thread exit]", Counter::kStacksOfEndingThreads};
    default: return {"[broken stack]", Counter::kStacksUnwalkable};
  }
}

}  // namespace

Sampler::Sampler(SlotTable& slots, arena::Writer& arena, SampledMethods& methods, SampleTrees& trees,
                 const SamplerOptions& options)
    : arena_(arena),
      methods_(methods),
      options_(options),
      clock_(kCpuSignal, options.cpu_interval_ns),
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
  info.cpu_clock = static_cast<arena::CpuClockSource>(clock_.choose(options_.timers_only));
  info.walker = jvm.walker;
  if (info.start_ns == 0) info.start_ns = start_ns_;
  if (!install_handler({.slots = &slots_,
                        .walk = jvm.walk,
                        .cpu_interval_ns = options_.cpu_interval_ns,
                        .with_native = jvm.native != nullptr})) {
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
  {
    const std::lock_guard lock(slots_mutex_);
    slots_.for_each_in_use([](ThreadSlot& slot) { CpuClock::stop(slot); });
  }
  disable_handler();
  drain();
  update_info();
  const std::lock_guard lock(slots_mutex_);
  slots_.clear();
}

void Sampler::start_clock(ThreadSlot& slot) {
  CpuClock::attach(slot);
  // A thread that has ended meanwhile needs no clock.
  if (options_.cpu_interval_ns != 0 && !clock_.start(slot) && CpuClock::cpu_time_ns(slot) != 0) {
    arena_.count(Counter::kThreadsNotSampled);
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
  slot->last_walk.map();
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
  // Rings hold a few hundred samples.
  const std::uint64_t interval = options_.cpu_interval_ns != 0 ? options_.cpu_interval_ns : options_.wall_interval_ns;
  const std::uint64_t period = std::clamp(interval * 20, 5 * kMillisecond, 50 * kMillisecond);
  std::uint64_t internal_threads_at = 0;
  do {
    drain();
    if (const std::uint64_t now = monotonic_ns(); now >= internal_threads_at) {
      find_internal_threads();
      update_info();
      internal_threads_at = now + kInternalThreadsEvery;
    }
  } while (wait_.until(monotonic_ns() + period));
  if (jvm_.off_own_thread != nullptr) jvm_.off_own_thread();
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
    if (slot.state != ThreadSlot::State::kActive || alive.contains(slot.tid)) return;
    if (CpuClock::cpu_time_ns(slot) == 0) end_slot(slot);
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

void Sampler::drain() {
  const std::lock_guard lock(decoding_);
  slots_.for_each_marked([&](ThreadSlot& slot) { drain_slot(slot); });
}

void Sampler::drain_slot(ThreadSlot& slot) {
  slot.ring.drain([&](const RawSample& sample) { add(slot, sample); });
  if (const std::uint64_t dropped = slot.dropped.exchange(0, std::memory_order_relaxed); dropped != 0) {
    arena_.count(Counter::kSamplesDropped, dropped);
  }
  handler_ticks_ += slot.handler_ticks.exchange(0, std::memory_order_relaxed);
  if (slot.seen_sp.load(std::memory_order_relaxed) != 0 && slot.stack_high == 0) find_stack(slot);
  const std::lock_guard lock(slots_mutex_);
  count_idle(slot);
  if (slot.state != ThreadSlot::State::kEnded) return;
  ended_cpu_ns_ += slot.cpu_ns;
  slots_.release(slot);
}

// Of a thread of the JVM. From now on its stack tells the handler whose signal it has, and can be copied.
void Sampler::find_stack(ThreadSlot& slot) {
  const StackBounds bounds = jvm_.native->bounds_of(slot.seen_sp.load(std::memory_order_relaxed));
  slot.stack_low = bounds.low;
  std::atomic_thread_fence(std::memory_order_release);
  slot.stack_high = bounds.high;
}

// Visits that found the thread where its last sample was.
void Sampler::count_idle(ThreadSlot& slot) {
  if (slot.idle_samples == 0 || slot.last_wall_node == nullptr) return;
  trees_.count_again(SampleKind::kWall, *slot.last_wall_node, slot.idle_samples, slot.idle_ns);
  arena_.header().sampling.wall_samples += slot.idle_samples;
  slot.idle_samples = slot.idle_ns = 0;
}

ThreadState Sampler::state_of(const RawSample& sample) {
  if (sample.kind == SampleKind::kCpu || frames_.size() <= native_frames_) return sample.state;
  if (sample.state != ThreadState::kBlocked && sample.state != ThreadState::kNative) return sample.state;
  const ThreadState waiting = methods_.waiting_in(frames_[frames_.size() - 1 - native_frames_].method_id);
  return waiting == ThreadState::kBlocked ? sample.state : waiting;
}

void Sampler::add(ThreadSlot& slot, const RawSample& sample) {
  arena::SamplingInfo& info = arena_.header().sampling;
  frames_.clear();
  marks_.clear();
  native_frames_ = jvm_.native != nullptr ? jvm_.native->unwind(sample, frames_) : 0;
  jvm_.decoder->decode(whole(slot, sample), frames_, marks_);
  const bool is_attached = sample.is_cut == 0 || reattach(slot);
  std::reverse(frames_.begin(), frames_.end());
  for (StackMark& mark : marks_) mark.frames = static_cast<std::uint32_t>(frames_.size()) - mark.frames;
  if (!is_attached) {
    marks_.clear();
    arena_.count(Counter::kStacksCut, sample.count);
    frames_.insert(frames_.begin(), {.method_id = methods_.id_of_pseudo("[deeper stack]"), .line = 0, .bci = 0});
  }
  if (sample.error == WalkError::kFrozen) {
    arena_.count(Counter::kStacksFrozen, sample.count);
    frames_.insert(frames_.begin(), {.method_id = methods_.id_of_pseudo("[frozen frames]"), .line = 0, .bci = 0});
  }
  add_failure(sample);
  const bool is_virtual = cut_to_virtual_thread() || sample.is_virtual != 0;
  const ThreadState state = state_of(sample);
  if (state == ThreadState::kParked && sample.kind == SampleKind::kWall && !is_virtual) add_blocker(slot);
  const std::uint32_t tree = tree_of(slot, sample, state, is_virtual);
  (sample.kind == SampleKind::kCpu ? info.cpu_samples : info.wall_samples) += sample.count;
  if (tree == 0) return arena_.count(Counter::kSamplesWithoutContext, sample.count);
  const std::uint32_t purges = trees_.purges();
  arena::SampleNode* node = trees_.add(tree, frames_, slot.path, sample.count, sample.weight_ns);
  if (trees_.purges() != purges) keep_nodes();
  slot.marks = is_virtual ? std::vector<StackMark>{} : marks_;
  if (sample.kind == SampleKind::kWall) slot.last_wall_node = node;
  if (!trees_.add_to_timeline(node, sample.time_ns - std::min(sample.time_ns, info.start_ns))) {
    arena_.count(Counter::kSamplesOutsideTimeline, sample.count);
  }
}

// A sample with the entries that it has in common with the one before.
const RawSample& Sampler::whole(ThreadSlot& slot, const RawSample& sample) {
  const RawFrame* frames = sample.frames();
  const auto same = std::find_if(frames, frames + sample.depth,
                                 [](const RawFrame& frame) { return frame.kind() == FrameKind::kSame; });
  if (same == frames + sample.depth) {
    slot.last_frames.assign(frames, frames + sample.depth);
    return sample;
  }
  whole_.assign(sizeof(RawSample) / sizeof(RawFrame) + 1, {});
  const std::size_t header = whole_.size();
  whole_.insert(whole_.end(), frames, same);
  const std::size_t from = slot.last_frames.size() - std::min<std::size_t>(slot.last_frames.size(), same->what);
  const std::size_t count = std::min<std::size_t>(same->value(), slot.last_frames.size() - from);
  whole_.insert(whole_.end(), slot.last_frames.begin() + from, slot.last_frames.begin() + from + count);
  whole_.insert(whole_.end(), same + 1, frames + sample.depth);
  slot.last_frames.assign(whole_.begin() + header, whole_.end());
  auto* result =
      reinterpret_cast<RawSample*>(reinterpret_cast<std::uint8_t*>(whole_.data() + header) - sizeof(RawSample));
  *result = sample;
  result->depth = static_cast<std::uint16_t>(whole_.size() - header);
  result->native_size = 0;
  return *result;
}

// Callers that a deep stack was too long for are those of the sample before, if both have a mark in common.
bool Sampler::reattach(const ThreadSlot& slot) {
  for (std::size_t i = marks_.size(); i-- > 0;) {
    const auto known = std::find_if(slot.marks.begin(), slot.marks.end(),
                                    [&](const StackMark& mark) { return mark.is_same_place(marks_[i]); });
    if (known == slot.marks.end() || known->frames > slot.path.frames.size()) continue;
    frames_.resize(marks_[i].frames);
    const auto outer = slot.path.frames.begin() + known->frames;
    frames_.insert(frames_.end(), std::make_reverse_iterator(outer), slot.path.frames.rend());
    marks_.resize(i);
    // Kept marks count from the outermost frame.
    const auto whole = static_cast<std::uint32_t>(frames_.size());
    for (auto mark = known; mark != slot.marks.end(); ++mark) {
      marks_.push_back({.sp = mark->sp, .pc = mark->pc, .frames = whole - mark->frames});
    }
    return true;
  }
  return false;
}

// Below Unsafe.park what the thread waits for: "[on java.util.concurrent.locks.ReentrantLock$NonfairSync]".
void Sampler::add_blocker(const ThreadSlot& slot) {
  const std::string name = jvm_.blocker != nullptr ? jvm_.blocker(slot.java_thread) : "";
  if (name.empty()) return;
  const auto park = frames_.end() - static_cast<std::ptrdiff_t>(native_frames_);
  frames_.insert(park, {.method_id = methods_.id_of_pseudo("[on " + name + "]"), .line = 0, .bci = 0});
}

// After contexts were purged.
void Sampler::keep_nodes() {
  const std::lock_guard lock(slots_mutex_);
  slots_.for_each_in_use([&](ThreadSlot& slot) { slot.last_wall_node = trees_.kept(slot.last_wall_node); });
}

void Sampler::add_failure(const RawSample& sample) {
  const auto push = [&](const char* name) {
    frames_.push_back({.method_id = methods_.id_of_pseudo(name), .line = 0, .bci = 0});
  };
  if (sample.error == WalkError::kNone || sample.error == WalkError::kFrozen) return;
  if (sample.error == WalkError::kNoJavaFrames) {
    if (native_frames_ == 0) push("[no Java frames]");
    return;
  }
  const Failure failure = failure_of(sample.error);
  push(failure.frame);
  arena_.count(failure.counter, sample.count);
  arena_.header().sampling.failed_samples += sample.count;
}

// A virtual thread's stack begins above the carrier's: what mounted it is not its caller.
bool Sampler::cut_to_virtual_thread() {
  const auto found = std::find_if(frames_.rbegin(), frames_.rend(),
                                  [&](const StackFrame& frame) { return frame.method_id == continuation_enter_; });
  if (found == frames_.rend()) return false;
  frames_.erase(frames_.begin(), found.base());
  return true;
}

std::uint32_t Sampler::tree_of(ThreadSlot& slot, const RawSample& sample, ThreadState state, bool is_virtual) {
  const SampleTrees::TreeKey key{.kind = sample.kind,
                                 .state = state,
                                 .thread_name = is_virtual ? std::string_view("virtual") : slot.name,
                                 .is_virtual = is_virtual};
  if (is_virtual) return trees_.tree_for(key);
  std::uint32_t& tree = slot.trees[static_cast<std::size_t>(sample.kind)][static_cast<std::size_t>(state)];
  if (tree == 0) tree = trees_.tree_for(key);
  return tree;
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
