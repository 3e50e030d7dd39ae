// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. What was read of compiled methods so far: which scope an instruction is in,
// and what a scope stands for. A place in the code is new far more often than its scope, whose callers are shared by
// all of a method's places; so most new places need nothing of the JVM's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "agent/session/sample_trees.h"

namespace sonde::agent::hotspot {

struct PcScope {
  std::int32_t pc_offset;  // from the beginning of the code
  std::int32_t scope;      // its place among the scopes; 0 or less: nothing is known
};

// A method, inlined or not, and a place in it.
struct Scope {
  StackFrame frame;
  std::int32_t caller;  // its scope; 0 or less: there is none
};

struct CompiledMethod {
  std::vector<PcScope> pcs;                        // in the order of offsets
  std::unordered_map<std::int32_t, Scope> scopes;  // by their place, those that somebody asked for

  // The first description at or behind an offset: that of a call is at its return address, that of other instructions
  // at their end.
  [[nodiscard]] std::int32_t scope_at(std::int32_t pc_offset) const {
    const auto found = std::lower_bound(pcs.begin(), pcs.end(), pc_offset,
                                        [](const PcScope& pc, std::int32_t offset) { return pc.pc_offset < offset; });
    return found == pcs.end() ? 0 : found->scope;
  }
  [[nodiscard]] const Scope* find(std::int32_t place) const {
    const auto found = scopes.find(place);
    return found == scopes.end() ? nullptr : &found->second;
  }
};

// By compile ids, which are never used twice. Of bounded size: what does not fit makes the table start again.
class CompiledMethods {
 public:
  static constexpr std::uint64_t kMostBytes = 4 << 20;

  [[nodiscard]] CompiledMethod* find(std::uint64_t compile_id) {
    const auto found = methods_.find(compile_id);
    return found == methods_.end() ? nullptr : &found->second;
  }
  CompiledMethod& add(std::uint64_t compile_id, std::vector<PcScope> pcs) {
    const std::uint64_t bytes = kBytesOfMethod + pcs.size() * sizeof(PcScope);
    make_room(bytes);
    bytes_ += bytes;
    CompiledMethod& method = methods_[compile_id];
    method.pcs = std::move(pcs);
    return method;
  }
  void add_scope(CompiledMethod& method, std::int32_t place, const Scope& scope) {
    bytes_ += kBytesOfScope;  // room is made when a method comes: `method` must not go
    method.scopes.emplace(place, scope);
  }
  [[nodiscard]] std::uint64_t memory_bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t kBytesOfMethod = 160;
  static constexpr std::uint64_t kBytesOfScope = 48;

  void make_room(std::uint64_t bytes) {
    if (bytes_ + bytes <= kMostBytes) return;
    methods_.clear();
    bytes_ = 0;
  }

  std::unordered_map<std::uint64_t, CompiledMethod> methods_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sonde::agent::hotspot
