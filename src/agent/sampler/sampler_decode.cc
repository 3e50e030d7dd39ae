// SPDX-License-Identifier: Apache-2.0
// From what handlers wrote to the trees of samples. With decoding_ held.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "agent/sampler/kernel_threads.h"
#include "agent/sampler/sampler.h"

namespace sonde::agent {
namespace {

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

std::uint64_t Sampler::drain() {
  const std::lock_guard lock(decoding_);
  std::uint64_t fullest = 0;
  slots_.for_each_marked([&](ThreadSlot& slot) { fullest = std::max(fullest, drain_slot(slot)); });
  return fullest;
}

std::uint64_t Sampler::drain_slot(ThreadSlot& slot) {
  const std::uint64_t found = slot.ring.drain([&](const RawSample& sample) { add(slot, sample); });
  if (const std::uint64_t dropped = slot.dropped.exchange(0, std::memory_order_relaxed); dropped != 0) {
    arena_.count(Counter::kSamplesDropped, dropped);
  }
  handler_ticks_ += slot.handler_ticks.exchange(0, std::memory_order_relaxed);
  if (slot.seen_sp.load(std::memory_order_relaxed) != 0 && slot.stack_high == 0) find_stack(slot);
  const std::lock_guard lock(slots_mutex_);
  count_idle(slot);
  if (slot.state == ThreadSlot::State::kEnded) {
    ended_cpu_ns_ += slot.cpu_ns;
    slots_.release(slot);
  }
  return found;
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
  const WalkError error = slot.decoded.update(sample, *jvm_.decoder) ? sample.error : WalkError::kUnwalkable;
  frames_.insert(frames_.end(), slot.decoded.frames().begin(), slot.decoded.frames().end());
  find_marks(slot.decoded);
  const bool is_attached = sample.is_cut == 0 || reattach(slot);
  std::reverse(frames_.begin(), frames_.end());
  for (StackMark& mark : marks_) mark.frames = static_cast<std::uint32_t>(frames_.size()) - mark.frames;
  if (!is_attached) {
    marks_.clear();
    arena_.count(Counter::kStacksCut, sample.count);
    frames_.insert(frames_.begin(), {.method_id = methods_.id_of_pseudo("[deeper stack]"), .line = 0, .bci = 0});
  }
  if (error == WalkError::kFrozen) {
    arena_.count(Counter::kStacksFrozen, sample.count);
    frames_.insert(frames_.begin(), {.method_id = methods_.id_of_pseudo("[frozen frames]"), .line = 0, .bci = 0});
  }
  add_failure(error, sample.count);
  const bool is_virtual = cut_to_virtual_thread() || sample.is_virtual != 0;
  const ThreadState state = state_of(sample);
  if (state == ThreadState::kParked && sample.kind == SampleKind::kWall && !is_virtual) add_blocker(slot);
  const std::uint32_t tree = tree_of(slot, sample, state, is_virtual);
  (sample.kind == SampleKind::kCpu ? info.cpu_samples : info.wall_samples) += sample.count;
  if (sample.kind == SampleKind::kCpu) info.cpu_counts_squared += std::uint64_t{sample.count} * sample.count;
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

void Sampler::find_marks(const DecodedStack& stack) {
  auto inner = static_cast<std::uint32_t>(native_frames_);
  for (std::size_t i = 0; i + 1 < stack.entries().size(); ++i) {
    const RawFrame& entry = stack.entries()[i];
    if (entry.kind() == FrameKind::kMark) {
      marks_.push_back({.sp = entry.what, .pc = stack.entries()[i + 1].what, .frames = inner});
    }
    inner += stack.counts()[i];
  }
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

void Sampler::add_failure(WalkError error, std::uint32_t count) {
  const auto push = [&](const char* name) {
    frames_.push_back({.method_id = methods_.id_of_pseudo(name), .line = 0, .bci = 0});
  };
  if (error == WalkError::kNone || error == WalkError::kFrozen) return;
  if (error == WalkError::kNoJavaFrames) {
    if (native_frames_ == 0) push("[no Java frames]");
    return;
  }
  const Failure failure = failure_of(error);
  push(failure.frame);
  arena_.count(failure.counter, count);
  arena_.header().sampling.failed_samples += count;
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
  SampleTrees::TreeKey key{.kind = sample.kind, .state = state, .thread_name = "virtual", .is_virtual = is_virtual};
  if (is_virtual) return trees_.tree_for(key);
  std::uint32_t& tree = slot.trees[static_cast<std::size_t>(sample.kind)][static_cast<std::size_t>(state)];
  if (tree != 0) return tree;
  // A thread of the JVM gives itself its name when it first runs.
  if (slot.is_internal && slot.state == ThreadSlot::State::kActive) {
    if (std::string name = kernel_name(slot.tid); !name.empty()) slot.name = std::move(name);
  }
  key.thread_name = slot.name;
  return tree = trees_.tree_for(key);
}

}  // namespace sonde::agent
