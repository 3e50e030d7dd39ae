// SPDX-License-Identifier: Apache-2.0
// CountingPass: where exceptions go. Each instruction that may throw has a row in the exception table; its landing pad
// takes back what was counted and not executed.
#include <algorithm>
#include <utility>

#include "instrument/counting_pass.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

StubFrame leaving_frame(bool in_constructor) {
  return in_constructor ? StubFrame::thrown_in_constructor() : StubFrame::thrown();
}

// As a range to be covered; its handler is chosen place by place. The JVM's verifier compares types at each instruction
// that is covered, and probes do not throw, but for a stack that overflows in one: then the end has no room either.
Handler whole_method(const Code& code) {
  return {
      .start = Pc(0), .end = Pc(code.length()), .handler = Pc(0), .catch_type = PoolIndex(0), .spares_inserted = true};
}

}  // namespace

// Where an exception goes that leaves the method. Where there is a count, what is taken back differs and the end is
// shared.
Target CountingPass::leaving_pad(CodeEditor& code, const Exposure& exposure) {
  const bool in_constructor = exposure.uninitialized;
  for (const LeavingPad& pad : leaving_pads_) {
    if (pad.unexecuted == exposure.unexecuted && pad.in_constructor == in_constructor) return pad.stub;
  }
  StubId stub;
  if (takes_back_ && !plan_.is_single_path()) {
    const Target end = leaving_end(code, in_constructor);
    const SnippetId snippet = code.snippet([&](CodeBuilder& b) { add_to_count(b, -exposure.unexecuted); });
    stub = code.append_stub(leaving_frame(in_constructor), snippet, end);
  } else {
    stub = append_end(code, in_constructor, exposure.unexecuted);
  }
  leaving_pads_.push_back({.unexecuted = exposure.unexecuted, .in_constructor = in_constructor, .stub = stub});
  return stub;
}

Target CountingPass::leaving_end(CodeEditor& code, bool in_constructor) {
  std::optional<StubId>& end = leaving_ends_[in_constructor ? 1 : 0];
  if (!end) end = append_end(code, in_constructor, 0);
  return *end;
}

StubId CountingPass::append_end(CodeEditor& code, bool in_constructor, std::int32_t unexecuted) {
  // Before super() only the constant part was counted; behind it also what follows would have been.
  const std::int32_t behind = in_constructor ? 0 : plan_.bytecodes_after_constructor_call();
  const SnippetId snippet = code.snippet([&](CodeBuilder& b) {
    finish(b, plan_.is_single_path() ? behind - unexecuted : 0);
    b.op(Opcode::athrow);
  });
  return code.append_stub(leaving_frame(in_constructor), snippet);
}

// Where an exception goes that the method itself handles. C1 does not compile a method whose handler is reached by a
// jump as well as by an exception, so all of them come by pads if one does.
Target CountingPass::handler_pad(CodeEditor& code, const Exposure& exposure, Pc handler) {
  if (!takes_back_) return handler;
  for (const Pad& pad : pads_) {
    if (pad.unexecuted == exposure.unexecuted && pad.handler == handler) return pad.stub;
  }
  const SnippetId snippet = code.snippet([&](CodeBuilder& b) { add_to_count(b, -exposure.unexecuted); });
  pads_.push_back({.unexecuted = exposure.unexecuted,
                   .handler = handler,
                   .stub = code.append_stub(StubFrame::same_as(handler), snippet, handler)});
  return pads_.back().stub;
}

// Rows for the instructions of `original`, one for each run of them that shares a target; what nobody asked for may lie
// between.
template <typename Wanted, typename MakeTarget>  // bool(const Exposure&), Target(const Exposure&)
void CountingPass::cover(CodeEditor& code, const Handler& original, Wanted&& wanted, MakeTarget&& target) {
  bool open = false;
  Exposure shared;
  Pc from = original.start;
  Pc end = original.start;
  const auto close = [&] {
    if (open)
      handlers_.push_back({.start = from,
                           .end = end,
                           .handler = target(shared),
                           .catch_type = original.catch_type,
                           .origin = original.origin,
                           .spares_inserted = original.spares_inserted});
    open = false;
  };
  for (Pc pc = original.start; pc < original.end;) {
    const Pc next = code.code().at(pc).next_pc();
    const Exposure& exposure = plan_.exposure(pc);
    if (!exposure.coverable) {
      close();
    } else if (wanted(exposure)) {
      const bool same =
          open && shared.unexecuted == exposure.unexecuted && shared.uninitialized == exposure.uninitialized;
      if (!same) {
        close();
        open = true;
        shared = exposure;
        from = pc;
      }
      end = next;
    } else if (open && shared.uninitialized != exposure.uninitialized) {
      close();
    }
    pc = next;
  }
  close();
}

void CountingPass::insert_handlers(CodeEditor& code) {
  handlers_.clear();
  const InstructionRange instructions = code.code().instructions();
  takes_back_ = std::any_of(instructions.begin(), instructions.end(),
                            [&](Instruction insn) { return plan_.exposure(insn.pc()).unexecuted != 0; });
  for (const Handler& original : code.handlers()) {
    // All of the range, for Thread.stop can throw anywhere.
    const auto all = [](const Exposure&) { return true; };
    cover(code, original, all,
          [&](const Exposure& exposure) { return handler_pad(code, exposure, original.handler.pc()); });
  }
  const auto leaves = [&](const Exposure& exposure) {
    return exposure.throws && !(is_done_at_entry() && exposure.unexecuted == 0);
  };
  cover(code, whole_method(code.code()), leaves, [&](const Exposure& exposure) { return leaving_pad(code, exposure); });
  std::swap(code.handlers(), handlers_);
}

}  // namespace sonde::instrument
