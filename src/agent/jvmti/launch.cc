// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/launch.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "agent/jvmti/counting.h"
#include "agent/jvmti/jvm.h"
#include "agent/jvmti/recording.h"
#include "agent/jvmti/subgraph.h"
#include "agent/jvmti/time_sampling.h"
#include "agent/session/recording_state.h"
#include "agent/vm/hotspot/late_compilation.h"

namespace sonde::agent {
namespace {

std::optional<hotspot::LateCompilation> g_late_compilation;  // until VMInit
// Never destroyed: callbacks may still run while the process exits.
Recording* g_recording = nullptr;

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  g_late_compilation.reset();
  bool any = false;
  g_recording->for_each_kind([&](Kind& kind) {
    const auto started = g_recording->start(jni, kind);
    any |= started.ok();
    if (!started.ok()) say(started.error().to_string() + "; nothing is recorded by mode " + std::string(kind.name()));
  });
  if (any) mark_running(g_recording->arena());
}

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv* jni) { g_recording->vm_ends(jni); }

Result<void> watch_vm(JavaVM* vm) {
  jvmtiEnv* jvmti = new_environment(vm);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  if (jvmti != nullptr && set_callbacks(jvmti, callbacks, nullptr, nullptr) &&
      switch_event(jvmti, JVMTI_EVENT_VM_INIT, JVMTI_ENABLE) &&
      switch_event(jvmti, JVMTI_EVENT_VM_DEATH, JVMTI_ENABLE)) {
    return {};
  }
  return Error{ErrorCode::kUnsupported, "the JVM does not tell when it starts and ends"};
}

// Child processes inherit it; this JVM has read its own long ago.
void follow_children(const std::string& options) {
  const char* present = std::getenv("JAVA_TOOL_OPTIONS");
  const std::string value = present == nullptr || *present == 0 ? options : present + (" " + options);
  setenv("JAVA_TOOL_OPTIONS", value.c_str(), 1);
}

Result<Options> options_of(JavaVM* vm, const char* argument) {
  auto options = TRY(read_options(argument));
  if (options.is_followed) {
    jvmtiEnv* jvmti = new_environment(vm);
    options.command = "java " + system_property(jvmti, "sun.java.command");
    const std::string home = system_property(jvmti, "java.home");
    jvmti->DisposeEnvironment();
    TRY(make_own_folder(options, home));
  } else if (!options.follow.empty()) {
    follow_children(options.follow);
  }
  return options;
}

Result<void> prepare_kinds(JavaVM* vm, Recording& recording) {
  const Options& options = recording.options();
  if (options.cpu_interval_ns != 0 || options.wall_interval_ns != 0)
    recording.add(std::make_unique<TimeSampling>(vm, recording.arena(), options));
  if (options.subgraph.is_on()) recording.add(std::make_unique<SubgraphTiming>(vm, recording.arena(), options));
  if (options.exact) recording.add(std::make_unique<Counting>(vm, recording.arena(), options));
  Result<void> prepared;
  recording.for_each_kind([&](Kind& kind) {
    if (prepared.ok()) prepared = kind.prepare();
  });
  TRY(prepared);
  TRY(watch_vm(vm));
  if (options.exact && options.jdk) g_late_compilation.emplace();
  return {};
}

}  // namespace

Result<void> launch(JavaVM* vm, const char* argument) {
  if (g_recording != nullptr) return {};  // `sonde run` inside what `sonde run --follow` started: the first one has it
  const Jvm jvm = TRY(describe(vm));
  auto options = TRY(options_of(vm, argument));
  g_recording = TRY(Recording::create(jvm, std::move(options))).release();
  auto prepared = prepare_kinds(vm, *g_recording);
  if (!prepared.ok()) g_recording->discard();
  return prepared;
}

}  // namespace sonde::agent
