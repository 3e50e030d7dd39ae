// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest_samples.h"

#include <algorithm>
#include <tuple>

namespace sonde::profile {
namespace {

std::string clock_name(arena::CpuClockSource source) {
  switch (source) {
    case arena::CpuClockSource::kPerf: return "perf";
    case arena::CpuClockSource::kPerfUser: return "perf-user";
    case arena::CpuClockSource::kThreadTimer: return "thread-timer";
    case arena::CpuClockSource::kPerfTrap: return "perf-trap";
    case arena::CpuClockSource::kPerfUserTrap: return "perf-user-trap";
    case arena::CpuClockSource::kSharedTrap: return "perf-shared-trap";
    case arena::CpuClockSource::kSharedUserTrap: return "perf-user-shared-trap";
    default: return "";
  }
}

std::string walker_name(arena::Walker walker) {
  switch (walker) {
    case arena::Walker::kVmStructs: return "vmstructs";
    case arena::Walker::kAsyncGetCallTrace: return "asyncgetcalltrace";
    default: return "";
  }
}

std::string state_name(arena::ThreadState state) {
  switch (state) {
    case arena::ThreadState::kRunning: return "running";
    case arena::ThreadState::kRunnable: return "runnable";
    case arena::ThreadState::kBlocked: return "blocked";
    case arena::ThreadState::kWaiting: return "waiting";
    case arena::ThreadState::kParked: return "parked";
    case arena::ThreadState::kSleeping: return "sleeping";
    case arena::ThreadState::kIo: return "io";
    case arena::ThreadState::kNative: return "native";
  }
  return "";
}

// Where a node of the arena went in the profile.
using Places = std::unordered_map<std::uint32_t, std::uint32_t>;

void add_timeline(const arena::Reader& reader, Profile& profile, const Places& places) {
  std::vector<TimelineEntry>& timeline = profile.timeline;
  for (const arena::TimelineEntry& entry : reader.timeline()) {
    const auto place = places.find(entry.node);
    // A node that came while the trees were walked; the next look will have it.
    if (place != places.end()) timeline.push_back({.bucket = entry.bucket, .node = place->second, .samples = 1});
  }
  const auto key = [](const TimelineEntry& entry) { return std::tuple(entry.bucket, entry.node); };
  std::sort(timeline.begin(), timeline.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (const TimelineEntry& entry : timeline) {
    if (kept != 0 && key(timeline[kept - 1]) == key(entry)) {
      timeline[kept - 1].samples += entry.samples;
    } else {
      timeline[kept++] = entry;
    }
  }
  timeline.resize(kept);
}

}  // namespace

TimeSampling sampling_of(const arena::SamplingInfo& info) {
  return {.cpu_interval_ns = info.cpu_interval_ns,
          .wall_interval_ns = info.wall_interval_ns,
          .cpu_clock = clock_name(info.cpu_clock),
          .walker = walker_name(info.walker),
          .cpu_samples = info.cpu_samples,
          .cpu_counts_squared = info.cpu_counts_squared,
          .wall_samples = info.wall_samples,
          .failed_samples = info.failed_samples,
          .thread_cpu_ns = info.thread_cpu_ns,
          .handler_ns = info.handler_ns,
          .handler_p50_ns = info.handler_p50_ns,
          .handler_p99_ns = info.handler_p99_ns,
          .decoder_cpu_ns = info.decoder_cpu_ns,
          .memory_bytes = info.memory_bytes};
}

void add_samples(const arena::Reader& reader, Profile& profile, arena::Damage& damage,
                 const std::unordered_map<std::uint32_t, Thread>& threads,
                 const std::function<MethodId(const arena::SampleContext&)>& method_of) {
  CallTree& tree = profile.tree;
  Places places;
  // Beside samples by executed bytecodes, which count another thing, those of the CPU are told by their time alone.
  const bool are_counted = !profile.recording.sampling.is_on();
  for (const arena::SampleTreeEntry& entry : reader.sample_trees()) {
    const bool is_wall = entry.kind == arena::SampleTreeKind::kWall;
    tree.push_root();
    const auto visit = [&](const arena::SampleContext& context) {
      places.emplace(context.place, static_cast<std::uint32_t>(tree.size()));
      Amounts self{{is_wall ? Metric::kWallNs : Metric::kCpuNs, context.weight_ns}};
      if (!is_wall && are_counted) self.of(Metric::kSamples) = context.samples;
      tree.push(std::max(context.depth, 1U), method_of(context), context.line, self);
      tree.activations.resize(tree.size());
      tree.activations.back() = context.activations;
    };
    reader.walk(entry, visit, damage);
    const auto named = threads.find(entry.id);
    Thread thread = named != threads.end() ? named->second : Thread{.name = "(unnamed)"};
    if (is_wall) thread.state = state_name(entry.state);
    profile.threads.push_back(std::move(thread));
  }
  add_timeline(reader, profile, places);
}

}  // namespace sonde::profile
