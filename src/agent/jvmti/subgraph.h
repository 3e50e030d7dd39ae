// SPDX-License-Identifier: Apache-2.0
// Modes subgraph and region: methods are instrumented by retransformation while the program runs, and put back when
// measuring stops.
//
// A frame may outlive that. Its node is then no longer the one in its thread's entry, so its end changes nothing; nor
// is it ever again, since the arena leaves memory behind at its addresses (arena::Writer::leave_memory). What it asks
// for is nobody's business, or that of the next recording, where call sites have the numbers of others: a method too
// many may be instrumented.
#pragma once

#include <jvmti.h>

#include <string_view>
#include <vector>

#include "agent/jvmti/class_batches.h"
#include "agent/jvmti/kind.h"
#include "agent/session/options.h"
#include "agent/session/subgraph_plan.h"
#include "agent/session/subgraph_trees.h"
#include "arena/writer.h"

namespace sonde::agent {

// One at a time.
class SubgraphTiming final : public Kind {
 public:
  // `options` stay as they are.
  SubgraphTiming(JavaVM* vm, arena::Writer& arena, Options options);

  [[nodiscard]] std::string_view name() const override;
  // JVMs that start want to know early that classes may be changed.
  Result<void> prepare() override;
  Result<void> start(JNIEnv* jni) override;
  void stop(JNIEnv* jni) override;
  void vm_ends(JNIEnv* jni) override;
  void retire(JNIEnv* jni) override;

  [[nodiscard]] const SubgraphOptions& asked() const { return options_.subgraph; }
  [[nodiscard]] BatchSummary batches() const;

 private:
  JavaVM* vm_;
  arena::Writer& arena_;
  const Options options_;
  SubgraphTrees trees_;
  SubgraphPlan plan_;
  BatchCosts costs_;
  jvmtiEnv* jvmti_ = nullptr;  // the next start's, if there is one already
};

}  // namespace sonde::agent
