// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/recording.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "agent/jvmti/jvm.h"
#include "agent/session/nowhere.h"
#include "agent/session/recording_state.h"
#include "agent/session/store_weights.h"

namespace sonde::agent {
namespace {

std::uint32_t flags_of(const Options& options) {
  return (options.exact ? 0U : arena::kTimeOnly) | (options.is_attached ? arena::kAttached : 0U) |
         (options.precise ? arena::kPrecise : 0U) | (options.jdk ? arena::kJdkIncluded : 0U) |
         (options.flat ? arena::kFlat : 0U) | (options.sampling.is_on() ? arena::kSampled : 0U) |
         (options.subgraph.is_on() ? arena::kSubgraph : 0U);
}

// Changing classes takes memory for a while, the JVM's and ours, and the C library keeps it for the next time.
void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::string arena_of(const Options& options) { return options.folder + "/arena"; }

}  // namespace

Result<Jvm> describe(JavaVM* vm) {
  jvmtiEnv* jvmti = new_environment(vm);
  if (jvmti == nullptr) {
    return Error{ErrorCode::kUnsupported, "this JVM has no JVMTI of version 11; HotSpot of JDK 17 or later is needed"};
  }
  const std::string version = system_property(jvmti, "java.vm.version");
  const std::string name = system_property(jvmti, "java.vm.name");
  const int specification = std::atoi(system_property(jvmti, "java.vm.specification.version").c_str());
  jvmti->DisposeEnvironment();
  if (specification < 17 || name.find("OpenJ9") != std::string::npos) {
    return Error{ErrorCode::kUnsupported, "this is " + name + " " + version + "; HotSpot of JDK 17 or later is needed"};
  }
  return Jvm{.vm = vm, .version = version};
}

Result<std::unique_ptr<Recording>> Recording::create(const Jvm& jvm, Options options) {
  std::unique_ptr<Recording> recording(new Recording(std::move(options)));
  const Options& asked = recording->options_;
  const std::uint64_t bias = asked.is_attached ? TRY(map_nowhere_somewhere()) : kBias;
  TRY(recording->arena_.create(arena_of(asked).c_str(), {.capacity = asked.memory,
                                                         .address_bias = bias,
                                                         .flags = flags_of(asked),
                                                         .has_flat_region = asked.is_attached}));
  arena::ArenaHeader& header = recording->arena_.header();
  std::snprintf(header.jdk, sizeof header.jdk, "%s", jvm.version.c_str());
  std::snprintf(header.command, sizeof header.command, "%s", asked.command.c_str());
  header.granularity = asked.sampling.granularity;
  header.jitter = asked.sampling.jitter;
  header.seed = asked.sampling.seed;
  header.max_path = asked.sampling.max_path;
  if (asked.sampling.weights) store_weights(recording->arena_, asked.sampling);
  return recording;
}

Kind& Recording::add(std::unique_ptr<Kind> kind) { return *kinds_.emplace_back(Entry{std::move(kind)}).kind; }

Kind* Recording::find(std::string_view name) const {
  const auto found = std::ranges::find(kinds_, name, [](const Entry& entry) { return entry.kind->name(); });
  return found == kinds_.end() ? nullptr : found->kind.get();
}

bool Recording::is_on(const Kind& kind) const {
  return std::ranges::any_of(kinds_, [&](const Entry& entry) { return entry.kind.get() == &kind && entry.is_on; });
}

Result<void> Recording::start(JNIEnv* jni, Kind& kind) {
  for (Entry& entry : kinds_) {
    if (entry.kind.get() != &kind || entry.is_on) continue;
    TRY(kind.start(jni));
    entry.is_on = true;
  }
  return {};
}

void Recording::stop(JNIEnv* jni, Kind& kind) {
  for (Entry& entry : kinds_) {
    if (entry.kind.get() == &kind && std::exchange(entry.is_on, false)) kind.stop(jni);
  }
}

void Recording::end(JNIEnv* jni) {
  for (Entry& entry : kinds_) stop(jni, *entry.kind);
  mark_ended(arena_);
  for (Entry& entry : kinds_) entry.kind->retire(jni);
  kinds_.clear();
  give_memory_back();
}

void Recording::vm_ends(JNIEnv* jni) {
  for (Entry& entry : kinds_) {
    if (std::exchange(entry.is_on, false)) entry.kind->vm_ends(jni);
  }
  mark_ended(arena_);
}

void Recording::discard() { unlink(arena_of(options_).c_str()); }

}  // namespace sonde::agent
