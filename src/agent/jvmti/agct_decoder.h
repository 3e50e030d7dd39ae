// SPDX-License-Identifier: Apache-2.0
// Names for what AsyncGetCallTrace reports. Classes that may be unloaded are named when they are prepared; the others
// when one of their methods is seen. Context: [agent], on threads the JVM knows.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <mutex>
#include <unordered_map>

#include "agent/sampler/stack_decoder.h"
#include "agent/session/sampled_methods.h"

namespace sonde::agent {

class AgctDecoder final : public StackDecoder {
 public:
  AgctDecoder(JavaVM* vm, jvmtiEnv* jvmti, arena::Writer& arena, SampledMethods& methods)
      : vm_(vm), jvmti_(jvmti), arena_(arena), methods_(methods) {}

  // Makes the method ids of the class, without which the JVM shows no frames of it.
  void prepare(jclass cls, bool may_be_unloaded);

  void decode(const RawSample& sample, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
              std::vector<std::uint16_t>& counts) override;
  [[nodiscard]] std::uint64_t memory_bytes() const override { return known_.size() * 128; }

 private:
  struct Line {
    std::uint16_t bci;
    std::uint16_t line;
  };
  struct Known {
    std::uint32_t id;
    std::vector<Line> lines;  // by bci
  };
  const Known& resolve(jmethodID method);
  [[nodiscard]] MethodName name_of(jmethodID method) const;

  JavaVM* vm_;
  jvmtiEnv* jvmti_;
  arena::Writer& arena_;
  std::mutex mutex_;  // guards what follows
  SampledMethods& methods_;
  std::unordered_map<std::uint64_t, Known> known_;  // by jmethodID
};

}  // namespace sonde::agent
