// SPDX-License-Identifier: Apache-2.0
// Samples the threads of this process: gives each one a slot and a clock, and takes what their handlers wrote to the
// trees of samples. Context: [agent]: Java threads that start or end, the sampler's own thread, and the JVM's when it
// is about to collect garbage.
//
// Locks: decoding_ first, then slots_mutex_, then that of arena::Writer. The handler takes none.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "agent/sampler/cpu_clock.h"
#include "agent/sampler/native_frames.h"
#include "agent/sampler/own_thread.h"
#include "agent/sampler/signal_handler.h"
#include "agent/sampler/slot_table.h"
#include "agent/sampler/stack_decoder.h"
#include "agent/sampler/stoppable_wait.h"
#include "agent/sampler/wall_clock.h"
#include "agent/session/sample_trees.h"
#include "agent/session/sampled_methods.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

// A Java thread as the JVM's interfaces describe it.
struct JavaThreadInfo {
  pid_t tid;
  std::string name;
  std::uint64_t java_thread;  // JavaThread*
  void* jni_env;
  std::uint64_t stack_low;  // 0, 0: unknown
  std::uint64_t stack_high;
};

struct SamplerOptions {
  std::uint64_t cpu_interval_ns = 0;  // 0: off
  std::uint64_t wall_interval_ns = 0;
  CpuClock::Wanted clock = CpuClock::Wanted::kAny;
  SharedEvent* shared_event = nullptr;
};

class Sampler {
 public:
  // The slots are those of the process: late signals find them even when this is gone.
  Sampler(SlotTable& slots, arena::Writer& arena, SampledMethods& methods, SampleTrees& trees,
          const SamplerOptions& options);
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  struct Jvm {
    arena::Walker walker;
    Walk walk;                                        // runs in handlers
    StackDecoder* decoder;                            // understands what `walk` writes
    NativeFrames* native = nullptr;                   // null: native frames are not wanted
    ThreadGlance (*glance)(std::uint64_t) = nullptr;  // null: unknown
    std::string (*blocker)(std::uint64_t) = nullptr;  // the class of what a JavaThread is parked on; null: unknown
    void (*on_own_thread)() = nullptr;                // called once on the decoding thread before it begins,
    void (*off_own_thread)() = nullptr;               // and when it is done
  };
  Result<void> start(const Jvm& jvm);
  // Threads that were there already have been told of: what all of them share may begin.
  void begin_shared();
  // Everything sampled is in the trees; no clock runs, our threads have ended, the handler does nothing any more.
  void stop();

  void thread_started(const JavaThreadInfo& thread);
  void thread_ended(pid_t tid);
  void current_thread_ended();

  // Brings everything that was sampled into the trees, and tells how full the fullest ring was, in bytes.
  std::uint64_t drain();

 private:
  void decode_until_stopped();
  std::uint64_t drain_slot(ThreadSlot& slot);
  void find_stack(ThreadSlot& slot);
  void count_idle(ThreadSlot& slot);
  void add(ThreadSlot& slot, const RawSample& sample);
  void keep_nodes();
  void find_marks(const DecodedStack& stack);
  void add_failure(WalkError error, std::uint32_t count);
  ThreadState state_of(const RawSample& sample);
  void add_blocker(const ThreadSlot& slot);
  bool reattach(const ThreadSlot& slot);
  std::uint32_t tree_of(ThreadSlot& slot, const RawSample& sample, ThreadState state, bool is_virtual);
  bool cut_to_virtual_thread();
  void find_internal_threads();
  bool count_unknown();
  void unshare_if_much_is_missed();
  void start_clock(ThreadSlot& slot);
  void end_slot(ThreadSlot& slot);
  void update_info();

  arena::Writer& arena_;
  SampledMethods& methods_;
  const SamplerOptions options_;
  CpuClock clock_;
  SlotTable& slots_;
  std::mutex slots_mutex_;   // guards slots_, but for what handlers use
  bool is_running_ = false;  // guarded by slots_mutex_, as what follows
  WallClock wall_;

  std::mutex decoding_;  // guards what follows
  SampleTrees& trees_;
  std::vector<StackFrame> frames_;
  std::size_t native_frames_ = 0;  // of frames_, the innermost
  std::vector<StackMark> marks_;
  std::uint32_t continuation_enter_ = 0;
  std::uint64_t ended_cpu_ns_ = 0;
  std::uint64_t handler_ticks_ = 0;
  std::uint64_t of_unknown_ = 0;  // samples
  // When it was last looked how much of the time is sampled.
  std::uint64_t looked_at_cpu_ns_ = 0;
  std::uint64_t looked_at_samples_ = 0;

  std::mutex stopping_;  // who comes second waits until all is stopped
  StoppableWait wait_;
  OwnThread thread_;
  Jvm jvm_{};
  std::uint64_t start_ticks_ = 0;
  std::uint64_t start_ns_ = 0;
  arena::SamplingInfo before_{};  // what sampling in this recording had cost when it started the last time
};

}  // namespace sonde::agent
