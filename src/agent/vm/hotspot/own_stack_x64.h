// SPDX-License-Identifier: Apache-2.0
// Context: [agent], a Java thread over its own stack: in a native method, from the frame that called it outwards, or at
// a trapped store in compiled code. The frames are complete and alive; how they look is said in stack_walk_x64.cc. A
// way that does not lead upwards on the stack is refused.
#pragma once

#include <cstdint>

#include "agent/vm/hotspot/code_cache.h"

namespace sonde::agent::hotspot {

struct OwnFrame {
  std::uint64_t pc = 0;  // 0: behind the outermost frame
  std::uint64_t sp = 0;
  std::uint64_t fp = 0;  // of one that is interpreted, or a call stub; others keep something else in that register
  bool operator==(const OwnFrame&) const = default;
};

class OwnStack {
 public:
  // `java_thread`: the JVM's own object.
  OwnStack(const CodeCache& cache, std::uint64_t java_thread)
      : cache_(cache), layout_(cache.layout()), end_(load<std::uint64_t>(java_thread + layout_.thread_stack_base)) {
    go_to(at_anchor(java_thread + layout_.thread_anchor));
  }
  // From a frame of compiled code.
  OwnStack(const CodeCache& cache, std::uint64_t java_thread, const OwnFrame& innermost)
      : cache_(cache), layout_(cache.layout()), end_(load<std::uint64_t>(java_thread + layout_.thread_stack_base)) {
    go_to(innermost);
  }

  // False: this is no stack that we understand.
  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] bool is_at_end() const { return now_.pc == 0; }
  [[nodiscard]] const OwnFrame& now() const { return now_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

  [[nodiscard]] bool is_interpreted() const { return cache_.is_interpreter(now_.pc); }
  [[nodiscard]] static std::uint64_t method_of(const OwnFrame& frame) { return word(frame, kInterpretedMethod); }
  [[nodiscard]] static std::uint64_t bcp_of(const OwnFrame& frame) { return word(frame, kInterpretedBcp); }
  [[nodiscard]] OwnFrame caller_of_interpreted(const OwnFrame& frame) const {
    return at(word(frame, 1), word(frame, kInterpretedSenderSp), word(frame, 0));
  }
  void leave_interpreted() {
    is_good_ = now_.fp >= now_.sp && is_on_stack(now_.fp + 8);
    if (is_good_) go_to(caller_of_interpreted(now_));
  }

  // A frame of compiled code or of a stub that has one, by its size in words.
  [[nodiscard]] OwnFrame caller_at(std::uint64_t sp) const {
    return at(load<std::uint64_t>(sp - 8), sp, load<std::uint64_t>(sp - 16));
  }
  void leave_frame(std::uint32_t words) {
    const std::uint64_t sender = now_.sp + std::uint64_t{words} * 8;
    is_good_ = words >= 2 && is_on_stack(sender);
    if (is_good_) go_to(caller_at(sender));
  }
  // Where a frame that will be deoptimized keeps the return address that the JVM has replaced.
  [[nodiscard]] std::uint64_t original_pc(std::uint64_t sp, std::uint64_t nmethod) const {
    return load<std::uint64_t>(sp + load<std::uint32_t>(nmethod + layout_.nmethod_orig_pc));
  }

  // Where native code called Java; before that Java called native code, unless the thread began there.
  [[nodiscard]] bool is_call_stub() const { return now_.pc == layout_.call_stub_return; }
  // Pc 0: there is none.
  [[nodiscard]] OwnFrame caller_of_call_stub(const OwnFrame& frame) const {
    const std::uint64_t wrapper_at =
        frame.fp + static_cast<std::uint64_t>(std::int64_t{layout_.entry_frame_wrapper} * 8);
    if (!is_on_stack(wrapper_at)) return {.pc = 1};
    const auto wrapper = load<std::uint64_t>(wrapper_at);
    if (!is_on_stack(wrapper) || !is_on_stack(wrapper + layout_.wrapper_anchor + 16)) return {.pc = 1};
    return at_anchor(wrapper + layout_.wrapper_anchor);
  }
  void leave_call_stub() {
    const OwnFrame caller = caller_of_call_stub(now_);
    if (caller.pc == 0) return stop();
    go_to(caller);
  }

  void stop() { now_.pc = 0; }

 private:
  [[nodiscard]] static std::uint64_t word(const OwnFrame& frame, int place) {
    return load<std::uint64_t>(frame.fp + static_cast<std::uint64_t>(std::int64_t{place} * 8));
  }
  [[nodiscard]] bool is_on_stack(std::uint64_t address) const {
    return address >= now_.sp && address % 8 == 0 && address + 8 <= end_;
  }

  [[nodiscard]] OwnFrame at(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp) const {
    return {.pc = pc, .sp = sp, .fp = cache_.is_interpreter(pc) || pc == layout_.call_stub_return ? fp : 0};
  }

  // Callers lie above their callees, so the walk comes to an end.
  void go_to(const OwnFrame& caller) {
    is_good_ = cache_.contains(caller.pc) && caller.sp > now_.sp && is_on_stack(caller.sp);
    now_ = caller;
  }
  [[nodiscard]] OwnFrame at_anchor(std::uint64_t anchor) const {
    const auto sp = load<std::uint64_t>(anchor + layout_.anchor_sp);
    if (sp == 0) return {};
    auto pc = load<std::uint64_t>(anchor + layout_.anchor_pc);
    if (pc == 0 && is_on_stack(sp)) pc = load<std::uint64_t>(sp - 8);
    return at(pc != 0 ? pc : 1, sp, load<std::uint64_t>(anchor + layout_.anchor_fp));  // 1 is no address of code
  }

  const CodeCache& cache_;
  const Layout& layout_;
  std::uint64_t end_;
  OwnFrame now_;
  bool is_good_ = false;
};

}  // namespace sonde::agent::hotspot
