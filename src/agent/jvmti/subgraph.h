// SPDX-License-Identifier: Apache-2.0
// Modes subgraph and region: methods are instrumented by retransformation while the program runs, and put back when
// measuring stops.
#pragma once

#include <jvmti.h>

#include "agent/jvmti/kind.h"
#include "agent/session/options.h"
#include "arena/writer.h"

namespace sonde::agent {

// One at a time. It starts once, after prepare: what a thread may still be in outlives stop, and with it the arena and
// the options.
class SubgraphTiming final : public Kind {
 public:
  SubgraphTiming(JavaVM* vm, arena::Writer& arena, const Options& options)
      : vm_(vm), arena_(arena), options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "subgraph"; }
  Result<void> prepare() override;
  Result<void> start(JNIEnv* jni) override;
  // Only frames that were on the stack still run what was inserted, and that changes nothing any more.
  void stop(JNIEnv* jni) override;
  void vm_ends(JNIEnv* jni) override;

 private:
  JavaVM* vm_;
  arena::Writer& arena_;
  const Options& options_;
};

}  // namespace sonde::agent
