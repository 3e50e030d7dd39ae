// SPDX-License-Identifier: Apache-2.0
// The offsets of the jumps of an edited method: step 2 of code_assembler.h.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "classfile/code_assembler.h"

namespace sonde::classfile {
namespace {

bool fits_short(std::int64_t distance) {
  return distance >= std::numeric_limits<std::int16_t>::min() && distance <= std::numeric_limits<std::int16_t>::max();
}

std::uint16_t u2_of(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

}  // namespace

std::uint32_t CodeAssembler::target_of(const Context& context, Pc from, std::uint32_t which, Pc original) const {
  const auto& redirects = context.edits.redirects;
  if (!redirects.empty()) {
    const auto found = std::lower_bound(
        redirects.begin(), redirects.end(), std::pair(from, which),
        [](const CodeEdits::Redirect& r, const auto& key) { return std::pair(r.from, r.which) < key; });
    if (found != redirects.end() && found->from == from && found->which == which) return map_.stub(found->stub);
  }
  return map_.label(original);
}

// All jumps of most methods: two-byte branches that still reach. Returns how many of the first ones it settled.
std::size_t CodeAssembler::link_short_branches(const Code& code, std::uint8_t* base) const {
  const std::span<const Pc> jumps = code.jumps();
  const std::uint8_t* const original = code.bytes().data();
  const CodeMap::Place* const places = map_.places_.data();
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const std::uint32_t pc = jumps[i].value();
    if (kLengths[original[pc]] != kGoto) return i;
    const std::uint32_t target = pc + static_cast<std::uint32_t>(static_cast<std::int16_t>(load_u2(original + pc + 1)));
    const std::uint32_t from = places[pc].position();
    const std::uint32_t distance = places[target].label() - from;
    if (!fits_short(static_cast<std::int32_t>(distance))) return i;
    store_u2(base + from + 1, u2_of(distance));
  }
  return jumps.size();
}

bool CodeAssembler::link(const Context& context, std::uint8_t* base) {
  bool reaches = true;
  const bool is_plain = context.edits.redirects.empty() && wide_jumps_.empty();
  for (std::size_t i = is_plain ? link_short_branches(context.code, base) : 0; i < context.code.jumps().size(); ++i) {
    if (context.code.at(context.code.jumps()[i]).is_switch()) {
      link_switch(context, base, i);
    } else {
      reaches = link_branch(context, base, i) && reaches;
    }
  }
  return link_stubs(context, base) && reaches;
}

bool CodeAssembler::link_branch(const Context& context, std::uint8_t* base, std::size_t jump) {
  const Instruction insn = context.code.at(context.code.jumps()[jump]);
  const std::uint32_t target = target_of(context, insn.pc(), JumpEdge::kTaken, insn.branch_target());
  std::uint32_t from = map_.position(insn.pc());
  if (is_wide(jump) || insn.length() == kGotoW) {
    if (is_conditional(insn.opcode())) from += kInvertedIf;
    store_u4(base + from + 1, target - from);
    return true;
  }
  store_u2(base + from + 1, u2_of(target - from));
  if (fits_short(static_cast<std::int64_t>(target) - from)) [[likely]]
    return true;
  wide_jumps_.resize(context.code.jumps().size());
  wide_jumps_[jump] = 1;
  return false;
}

void CodeAssembler::link_switch(const Context& context, std::uint8_t* base, std::size_t jump) {
  const Instruction insn = context.code.at(context.code.jumps()[jump]);
  const Switch cases = insn.as_switch();
  const std::uint32_t position = map_.position(insn.pc());
  std::uint8_t* operands = base + switch_operands(position);
  const auto offset = [&](std::uint32_t which, Pc original) {
    return target_of(context, insn.pc(), which, original) - position;
  };
  store_u4(operands, offset(JumpEdge::kDefault, cases.default_target()));
  const std::uint32_t stride = cases.is_table() ? 4 : 8;
  for (std::uint32_t i = 0; i < cases.size(); ++i) store_u4(operands + 12 + i * stride, offset(i, cases.target(i)));
}

bool CodeAssembler::link_stubs(const Context& context, std::uint8_t* base) {
  bool reaches = true;
  for (std::size_t i = 0; i < context.edits.stubs.size(); ++i) {
    const CodeEdits::Stub& stub = context.edits.stubs[i];
    if (!stub.jump) continue;
    const std::uint32_t from = map_.stubs_[i] + context.edits.at(stub.snippet).size;
    const std::uint32_t target = map_.of(*stub.jump);
    if (wide_stubs_[i] != 0) {
      store_u4(base + from + 1, target - from);
    } else if (fits_short(static_cast<std::int64_t>(target) - from)) {
      store_u2(base + from + 1, u2_of(target - from));
    } else {
      wide_stubs_[i] = 1;
      reaches = false;
    }
  }
  return reaches;
}

}  // namespace sonde::classfile
