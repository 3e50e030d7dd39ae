// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/modes.h"

#include <memory>

#include "agent/jvmti/attached_counting.h"
#include "agent/jvmti/time_sampling.h"

namespace sonde::agent {
namespace {

constexpr const char* kCountingModes[] = {"exact", "exact:flat"};

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

Kind* find_counting(const Recording& recording) {
  for (const char* mode : kCountingModes) {
    if (Kind* kind = recording.find(mode)) return kind;
  }
  return nullptr;
}

// A recording has counts of one kind: with contexts, or without.
Result<void> start_counting(Recording& recording, JavaVM* vm, JNIEnv* jni, Options settings) {
  settings.exact = true;
  Kind* kind = find_counting(recording);
  const bool is_new = kind == nullptr;
  if (is_new) kind = &recording.add(std::make_unique<AttachedCounting>(vm, recording.arena(), settings));
  if (kind->name() != (settings.flat ? "exact:flat" : "exact"))
    return invalid("this recording has mode " + std::string(kind->name()) + "; begin another one");
  std::uint32_t& flags = recording.arena().header().flags;
  flags = (flags & ~arena::kTimeOnly) | (settings.flat ? arena::kFlat : 0U);
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
    return start_counting(recording, vm, jni, std::move(counting));
  }
  return invalid("mode `" + mode + "` cannot be started in a JVM that runs; there are cpu, wall, exact and exact:flat");
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

BatchCosts batches_of(const Recording& recording) {
  const Kind* kind = find_counting(recording);
  return kind == nullptr ? BatchCosts{} : static_cast<const AttachedCounting*>(kind)->costs();
}

std::vector<std::string> modes_of(const Recording& recording) {
  std::vector<std::string> modes;
  if (recording.options().cpu_interval_ns != 0) modes.emplace_back("cpu");
  if (recording.options().wall_interval_ns != 0) modes.emplace_back("wall");
  if (const Kind* kind = find_counting(recording); kind != nullptr && recording.is_on(*kind))
    modes.emplace_back(kind->name());
  return modes;
}

}  // namespace sonde::agent
