// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/subgraph_changes.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "agent/jvmti/class_batches.h"
#include "agent/jvmti/growing_pools.h"
#include "agent/vm/hotspot/perf_counters.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongestWait = 1s;           // of a thread for its callee
constexpr std::uint64_t kMostGivenUp = 10;  // batches: then nobody waits any more

void publish_costs(Subgraph& s) {
  const BatchSummary all = s.costs.summary();
  arena::SubgraphInfo& info = s.arena.header().subgraph;
  info.batches = all.batches;
  info.batch_ns = all.took.total;
  info.batch_p99_ns = all.took.p99;
  info.batch_max_ns = all.took.longest;
  info.paused_ns = all.paused.total;
  info.paused_p99_ns = all.paused.p99;
  info.paused_max_ns = all.paused.longest;
}

// Without the lock: the JVM calls on_class_file_load.
void change(Subgraph& s, JNIEnv* jni, std::span<const ClassKey> keys) {
  std::vector<jclass> classes;
  std::vector<ClassKey> alive;
  {
    const std::lock_guard lock(s.mutex);
    for (const ClassKey key : keys) {
      const jclass cls = s.reveal.classes().reference(jni, key);
      if (cls == nullptr) continue;
      if (!s.is_ending && !has_room_in_pool(s.jvmti, cls)) {
        s.plan.refuse(key);
        jni->DeleteLocalRef(cls);
        continue;
      }
      classes.push_back(cls);
      alive.push_back(key);
    }
  }
  retransform(s.jvmti, classes, s.costs, [&](jclass refused) {
    const std::lock_guard lock(s.mutex);
    s.plan.refuse(alive[static_cast<std::size_t>(std::ranges::find(classes, refused) - classes.begin())]);
  });
  for (const jclass cls : classes) jni->DeleteLocalRef(cls);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  publish_costs(s);
}

// Roots run bare from when there is one, and what they take counts in the last quarter of that time.
std::chrono::nanoseconds quarter_of_bare(const Subgraph& s) { return std::chrono::nanoseconds(s.settling.period_ns()); }

void end_phase(Subgraph& s, JNIEnv* jni, std::unique_lock<std::mutex>& lock) {
  s.phase_end += quarter_of_bare(s);
  if (s.phase == Subgraph::Phase::kSettling) {
    if (!s.settling.has_settled(hotspot::compiled_ns_so_far())) return;
    s.phase = Subgraph::Phase::kBare;
    return SubgraphRuntime::begin_bare_round();
  }
  // Nobody waits for what the eager scheme finds: until it is instrumented, calls of roots are not seen.
  const bool is_eager = s.options.subgraph.scheme == arena::SubgraphScheme::kEager;
  lock.unlock();
  if (is_eager) s.runtime.set_open(jni, false);
  const bool is_revealing = begin_to_reveal(s, jni);
  lock.lock();
  if (is_revealing && s.reveal.has_changed()) change_revealed(s, jni, lock);
  if (is_eager) s.runtime.set_open(jni, !s.is_ending);
}

void change_until_end(Subgraph& s, JNIEnv* jni) {
  std::unique_lock lock(s.mutex);
  while (!s.is_ending) {
    if (s.reveal.has_changed()) {
      change_revealed(s, jni, lock);
    } else if (s.phase == Subgraph::Phase::kRevealing || !s.reveal.has_roots()) {
      s.has_work.wait(lock);
    } else if (s.phase_end == Subgraph::kNever) {
      s.phase_end = std::chrono::steady_clock::now() + quarter_of_bare(s);
    } else if (s.has_work.wait_until(lock, s.phase_end) == std::cv_status::timeout) {
      end_phase(s, jni, lock);
    }
  }
  s.has_ended = true;
  s.has_done.notify_all();
}

}  // namespace

void hand_over(Subgraph& s, std::unique_lock<std::mutex>& lock) {
  if (s.reveal.has_changed()) s.has_work.notify_one();
  const SubgraphReveal::Urgency urgency = s.reveal.urgency();
  if (urgency == SubgraphReveal::Urgency::kNone || s.is_ending) return;
  if (!s.options.subgraph.wait || s.given_up >= kMostGivenUp) return;
  const std::uint64_t batch = urgency == SubgraphReveal::Urgency::kNext ? s.collecting : s.collecting - 1;
  const std::uint64_t begin = monotonic_ns();
  if (!s.has_done.wait_for(lock, kLongestWait, [&] { return s.done >= batch || s.is_ending; })) {
    if (batch > s.last_given_up) ++s.given_up;
    s.last_given_up = std::max(s.last_given_up, batch);
    s.arena.count(Counter::kSubgraphWaitsGivenUp);
  }
  s.arena.header().subgraph.waited_ns += monotonic_ns() - begin;
}

bool begin_to_reveal(Subgraph& s, JNIEnv* jni) {
  if (!s.runtime.begin_to_ask(jni)) return false;
  const std::lock_guard lock(s.mutex);
  s.phase = Subgraph::Phase::kRevealing;
  s.plan.let_sites_ask();
  s.reveal.go_beyond_roots(jni);
  return true;
}

void change_all(Subgraph& s, JNIEnv* jni, std::span<const ClassKey> keys) {
  while (!keys.empty()) {
    const std::size_t count = std::min(s.costs.next_size(), keys.size());
    change(s, jni, keys.first(count));
    keys = keys.subspan(count);
  }
}

void change_revealed(Subgraph& s, JNIEnv* jni, std::unique_lock<std::mutex>& lock) {
  const std::vector<ClassKey> keys = s.reveal.take_changed();
  const std::uint64_t batch = s.collecting++;
  lock.unlock();
  change_all(s, jni, keys);
  lock.lock();
  s.reveal.changed();
  s.done = batch;
  s.has_done.notify_all();
}

void change_until_end(Subgraph& s) {
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("sonde"), .group = nullptr};
  JNIEnv* jni = nullptr;
  if (s.vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni), &arguments) != JNI_OK) return;
  change_until_end(s, jni);
  s.vm->DetachCurrentThread();
}

}  // namespace sonde::agent
