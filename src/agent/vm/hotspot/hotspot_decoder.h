// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What the walker noted, as methods and lines. A program counter in compiled code stands for a method
// and those that were inlined into it at that place; this is found once for each place and compilation. No JVM
// interface is used, so it can run on any thread, and while the JVM stands still.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "agent/sampler/stack_decoder.h"
#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/compiled_scopes.h"
#include "agent/vm/hotspot/known_places.h"
#include "agent/vm/hotspot/method_table.h"
#include "arena/writer.h"

namespace sonde::agent::hotspot {

class HotspotDecoder final : public StackDecoder {
 public:
  HotspotDecoder(const CodeCache& cache, MethodLog& log, arena::Writer& arena, SampledMethods& methods)
      : cache_(cache), log_(log), arena_(arena), names_(methods), methods_(cache.layout(), log, methods) {}

  void decode(const RawSample& sample, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
              std::vector<std::uint16_t>& counts) override;
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    return places_.memory_bytes() + compiled_methods_.memory_bytes() + methods_.memory_bytes() + log_.memory_bytes();
  }

  // Any thread: classes were unloaded, or methods that were redefined are about to be freed.
  void doubt() {
    doubts_.fetch_add(1);
    log_.doubt();
  }

 private:
  void decode_interpreted(const RawFrame& frame, const RawSample* top, std::vector<StackFrame>& frames);
  std::span<const StackFrame> compiled(const Place& place);
  std::vector<StackFrame> read_scopes(const Place& place);
  [[nodiscard]] bool is_at_edge(std::uint64_t nmethod, const Place& place) const;
  StackFrame own_frame(std::uint64_t nmethod, std::int32_t bci);
  std::optional<Scope> read_scope(std::uint64_t nmethod, std::int32_t at);
  [[nodiscard]] std::uint64_t nmethod_of(const Place& place) const;
  StackFrame known_or_unloaded(const StackFrame& frame);
  [[nodiscard]] std::string stub_name(std::uint64_t pc) const;
  StackFrame unloaded();

  const CodeCache& cache_;
  MethodLog& log_;
  arena::Writer& arena_;
  SampledMethods& names_;
  MethodTable methods_;
  KnownPlaces places_;
  CompiledMethods compiled_methods_;
  std::atomic<std::uint32_t> doubts_{0};
  std::uint32_t seen_doubts_ = 0;
};

}  // namespace sonde::agent::hotspot
