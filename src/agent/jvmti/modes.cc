// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/modes.h"

#include <memory>
#include <span>

#include "agent/jvmti/attached_counting.h"
#include "agent/jvmti/subgraph.h"
#include "agent/jvmti/time_sampling.h"

namespace sonde::agent {
namespace {

constexpr const char* kCountingModes[] = {"exact", "exact:flat", "bytecode"};
constexpr const char* kSubgraphModes[] = {"subgraph", "region"};

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// cpu and wall are one kind: what was on goes on with the new intervals.
Result<void> set_intervals(Recording& recording, JavaVM* vm, JNIEnv* jni, std::uint64_t cpu_ns, std::uint64_t wall_ns) {
  Kind* kind = recording.find(TimeSampling::kName);
  if (kind == nullptr)
    kind = &recording.add(std::make_unique<TimeSampling>(vm, recording.arena(), recording.options()));
  recording.stop(jni, *kind);
  Options& options = recording.options();
  options.cpu_interval_ns = cpu_ns;
  options.wall_interval_ns = wall_ns;
  if (cpu_ns == 0 && wall_ns == 0) return {};
  auto started = recording.start(jni, *kind);
  if (!started.ok()) options.cpu_interval_ns = options.wall_interval_ns = 0;
  return started;
}

Kind* find_any(const Recording& recording, std::span<const char* const> modes) {
  for (const char* mode : modes) {
    if (Kind* kind = recording.find(mode)) return kind;
  }
  return nullptr;
}

const AttachedCounting* find_counting(const Recording& recording) {
  return static_cast<const AttachedCounting*>(find_any(recording, kCountingModes));
}

const SubgraphTiming* find_subgraph(const Recording& recording) {
  return static_cast<const SubgraphTiming*>(find_any(recording, kSubgraphModes));
}

Error has_another(const Kind& kind) {
  return invalid("this recording has mode " + std::string(kind.name()) + "; begin another one");
}

// What reading the recording needs to know of its counts.
void describe_counts(arena::ArenaHeader& header, const Options& settings) {
  header.flags = (header.flags & ~arena::kTimeOnly) | (settings.flat ? arena::kFlat : 0U) |
                 (settings.sampling.is_on() ? arena::kSampled : 0U);
  header.granularity = settings.sampling.granularity;
  header.jitter = settings.sampling.jitter;
  header.seed = settings.sampling.seed;
  header.max_path = settings.sampling.max_path;
}

// A recording has counts of one kind: with contexts, or without, or samples.
Result<void> start_counting(Recording& recording, JavaVM* vm, JNIEnv* jni, Options settings) {
  if (const Kind* subgraph = find_subgraph(recording)) return has_another(*subgraph);
  settings.exact = true;
  auto fresh = std::make_unique<AttachedCounting>(vm, recording.arena(), settings);
  if (const AttachedCounting* present = find_counting(recording); present != nullptr && !present->is_like(*fresh))
    return has_another(*present);
  Kind* kind = find_any(recording, kCountingModes);
  if (kind == nullptr) {
    describe_counts(recording.arena().header(), settings);
    kind = &recording.add(std::move(fresh));
  }
  return recording.start(jni, *kind);
}

// A recording has one subgraph or region.
Result<void> start_subgraph(Recording& recording, JavaVM* vm, JNIEnv* jni, const Options& settings) {
  if (const Kind* counting = find_counting(recording)) return has_another(*counting);
  if (const SubgraphTiming* present = find_subgraph(recording);
      present != nullptr && present->asked() != settings.subgraph)
    return invalid("this recording has another " + std::string(present->name()) + "; begin another one");
  Kind* kind = find_any(recording, kSubgraphModes);
  if (kind == nullptr) kind = &recording.add(std::make_unique<SubgraphTiming>(vm, recording.arena(), settings));
  return recording.start(jni, *kind);
}

}  // namespace

Result<void> start_mode(Recording& recording, JavaVM* vm, JNIEnv* jni, const std::string& mode,
                        const Options& settings) {
  const Options& now = recording.options();
  if (mode == "cpu" || mode == "wall") recording.options().native = settings.native;
  if (mode == "cpu" && settings.cpu_interval_ns != 0)
    return set_intervals(recording, vm, jni, settings.cpu_interval_ns, now.wall_interval_ns);
  if (mode == "wall" && settings.wall_interval_ns != 0)
    return set_intervals(recording, vm, jni, now.cpu_interval_ns, settings.wall_interval_ns);
  if (mode == "exact" || mode == "exact:flat") {
    Options counting = settings;
    counting.flat = mode == "exact:flat";
    counting.sampling = {};
    return start_counting(recording, vm, jni, std::move(counting));
  }
  if (mode == "bytecode" && settings.sampling.is_on()) {
    // Neither a shadow stack nor a hash knows of frames that were there before, and a handler of signals stays.
    if (settings.sampling.context != instrument::ContextFrom::kJvm)
      return invalid(
          "a JVM that runs is asked for contexts: context=shadow, context=hash, context=jvm-trap and "
          "context=hash-trap are only for `sonde run`");
    return start_counting(recording, vm, jni, settings);
  }
  if ((mode == "subgraph" || mode == "region") && settings.subgraph.is_on() &&
      settings.subgraph.is_region() == (mode == "region"))
    return start_subgraph(recording, vm, jni, settings);
  return invalid(
      "mode `" + mode +
      "` cannot be started in a JVM that runs; there are cpu, wall, exact, exact:flat, bytecode, subgraph and region");
}

Result<void> stop_mode(Recording& recording, JavaVM* vm, JNIEnv* jni, const std::string& mode) {
  const Options& now = recording.options();
  if (mode == "cpu" && now.cpu_interval_ns != 0) return set_intervals(recording, vm, jni, 0, now.wall_interval_ns);
  if (mode == "wall" && now.wall_interval_ns != 0) return set_intervals(recording, vm, jni, now.cpu_interval_ns, 0);
  if (Kind* kind = recording.find(mode); kind != nullptr && recording.is_on(*kind)) {
    recording.stop(jni, *kind);
    return {};
  }
  return invalid("mode `" + mode + "` is not on");
}

BatchSummary batches_of(const Recording& recording) {
  if (const AttachedCounting* counting = find_counting(recording)) return counting->batches();
  if (const SubgraphTiming* subgraph = find_subgraph(recording)) return subgraph->batches();
  return {};
}

std::vector<std::string> modes_of(const Recording& recording) {
  std::vector<std::string> modes;
  if (recording.options().cpu_interval_ns != 0) modes.emplace_back("cpu");
  if (recording.options().wall_interval_ns != 0) modes.emplace_back("wall");
  recording.for_each_kind([&](const Kind& kind) {
    if (kind.name() != TimeSampling::kName && recording.is_on(kind)) modes.emplace_back(kind.name());
  });
  return modes;
}

}  // namespace sonde::agent
