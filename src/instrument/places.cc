// SPDX-License-Identifier: Apache-2.0
#include "instrument/places.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace sonde::instrument {

using namespace classfile;

void before_returns(CodeEditor& code, SnippetId snippet) {
  for (const Instruction insn : code.code().instructions()) {
    if (is_return(insn.opcode())) code.before(insn.pc(), snippet);
  }
}

void before_handlers(CodeEditor& code, SnippetId snippet) {
  std::vector<Pc> handlers;
  for (const Handler& handler : code.handlers()) handlers.push_back(handler.handler.pc());
  std::ranges::sort(handlers);
  handlers.erase(std::unique(handlers.begin(), handlers.end()), handlers.end());
  for (const Pc pc : handlers) code.before(pc, snippet);
}

void at_segment(CodeEditor& code, const Segment& segment, SnippetId snippet) {
  switch (segment.start) {
    case Segment::Start::kEntry: code.at_entry(snippet); break;
    case Segment::Start::kBlock: code.before(segment.at, snippet); break;
    case Segment::Start::kConstructorCall:
    case Segment::Start::kSubroutine: code.after(segment.at, snippet); break;
  }
}

void cover_what_throws(CodeEditor& code, const CountPlan& plan, SnippetId leave) {
  std::optional<StubId> stubs[2];  // before and behind super()
  for (const Instruction insn : code.code().instructions()) {
    const Exposure& exposure = plan.exposure(insn.pc());
    if (!exposure.coverable || !exposure.throws) continue;
    std::optional<StubId>& stub = stubs[exposure.uninitialized ? 0 : 1];
    if (!stub)
      stub = code.append_stub(exposure.uninitialized ? StubFrame::thrown_in_constructor() : StubFrame::thrown(), leave);
    std::vector<Handler>& rows = code.handlers();
    const bool continues = !rows.empty() && rows.back().end == insn.pc() && rows.back().handler.is_stub() &&
                           rows.back().handler.stub() == *stub;
    if (continues) {
      rows.back().end = insn.next_pc();
    } else {
      rows.push_back({.start = insn.pc(), .end = insn.next_pc(), .handler = *stub, .catch_type = PoolIndex(0)});
    }
  }
}

}  // namespace sonde::instrument
