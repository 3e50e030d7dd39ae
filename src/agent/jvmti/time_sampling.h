// SPDX-License-Identifier: Apache-2.0
// CPU and wall-clock sampling as the JVM sees it: a JVMTI environment of its own, so that a JVM that is only sampled
// has no class hook and keeps its class data sharing, and a JVM that is also instrumented is not disturbed.
//
// One recording at a time; start and stop may follow each other as often as one likes. What stays between them: an
// environment without events, the signal handler, which then does nothing, and the address space of the slots.
#pragma once

#include <jni.h>

#include <string_view>

#include "agent/jvmti/kind.h"
#include "agent/session/options.h"
#include "agent/session/sample_trees.h"
#include "agent/session/sampled_methods.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

class TimeSampling final : public Kind {
 public:
  // The arena lives until stop returns, or as long as the process. Intervals are those of the moment when it starts.
  TimeSampling(JavaVM* vm, arena::Writer& arena, const Options& options)
      : vm_(vm), arena_(arena), options_(options), methods_(arena), trees_(arena, methods_) {}

  static constexpr std::string_view kName = "cpu, wall";
  [[nodiscard]] std::string_view name() const override { return kName; }
  Result<void> prepare() override;
  Result<void> start(JNIEnv* jni) override;
  // Any thread that is not inside of a callback. No timers, no threads and no memory of the recording are left.
  void stop(JNIEnv* jni) override;
  // Memory stays: callbacks may run while the process exits.
  void vm_ends(JNIEnv* jni) override;

 private:
  JavaVM* vm_;
  arena::Writer& arena_;
  const Options& options_;
  // What was sampled, however often sampling started.
  SampledMethods methods_;
  SampleTrees trees_;
};

}  // namespace sonde::agent
