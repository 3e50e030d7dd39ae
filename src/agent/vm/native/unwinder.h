// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. Native frames from a copy of the stack that a handler made:
// by .eh_frame where there is one, by frame pointers elsewhere; before them those of the kernel, whose addresses the
// kernel itself has found. What is known of an instruction is found once.
// Functions are named by their library and place; the host knows their symbols.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "agent/sampler/native_frames.h"
#include "agent/vm/native/cfi.h"
#include "agent/vm/native/modules.h"

namespace sonde::agent::native {

class Unwinder final : public NativeFrames {
 public:
  // Frames end where is_java(pc) says so.
  Unwinder(SampledMethods& methods, bool (*is_java)(std::uint64_t)) : methods_(methods), is_java_(is_java) {}

  std::size_t unwind(const RawSample& sample, std::vector<StackFrame>& frames) override;
  StackBounds bounds_of(std::uint64_t stack_pointer) override;
  [[nodiscard]] std::uint64_t memory_bytes() const override { return places_.size() * 64 + modules_.memory_bytes(); }

 private:
  struct Place {
    std::uint32_t method_id = 0;  // 0: in no library, or in one that was loaded just now
    bool has_rule = false;        // without one the frame pointer leads on
    UnwindRule rule;
  };
  Place place_of(std::uint64_t pc, std::uint64_t now_ns);
  Place look_at(std::uint64_t pc, std::uint64_t now_ns);
  std::size_t unwind_program(const RawSample& sample, std::vector<StackFrame>& frames);

  SampledMethods& methods_;
  bool (*is_java_)(std::uint64_t);
  Modules modules_;
  std::string kernel_;                               // the one that runs; empty until it is met
  std::unordered_map<std::uint64_t, Place> places_;  // by program counter
};

}  // namespace sonde::agent::native
