// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_assembler.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace sonde::classfile {
namespace {

constexpr std::uint32_t kGoto = 3;
constexpr std::uint32_t kGotoW = 5;
constexpr std::uint32_t kInvertedIf = 3;  // in front of a goto_w

bool fits_short(std::int64_t distance) {
  return distance >= std::numeric_limits<std::int16_t>::min() && distance <= std::numeric_limits<std::int16_t>::max();
}

std::uint16_t u2_of(std::uint32_t value) { return static_cast<std::uint16_t>(value); }

// Copies a run of bytes, mostly a few: whole words where both sides have room for them. `limit` is the end of readable
// source memory; ByteWriter keeps room behind the destination.
std::uint8_t* copy_run(std::uint8_t* to, const std::uint8_t* from, std::size_t size, const std::uint8_t* limit) {
  constexpr std::size_t kWords = 16;
  static_assert(kWords <= ByteWriter::kSlack);
  if (size <= kWords && static_cast<std::size_t>(limit - from) >= kWords) [[likely]] {
    std::memcpy(to, from, kWords);
  } else {
    std::memcpy(to, from, size);
  }
  return to + size;
}

bool is_jump(Flow flow) { return flow != Flow::next && flow != Flow::end; }

}  // namespace

std::uint32_t CodeMap::label_near(std::uint32_t offset) const {
  if (offset == old_length()) return labels_.back();
  return positions_[offset] != kNone ? labels_[offset] : position_near(offset);
}

std::uint32_t CodeMap::position_near(std::uint32_t offset) const {
  std::uint32_t start = offset;
  while (positions_[start] == kNone) --start;  // offset 0 always starts an instruction
  return positions_[start] + (offset - start);
}

std::uint32_t CodeAssembler::jump_length(Instruction insn, std::uint32_t position, bool wide) const {
  if (insn.is_switch()) {
    const std::uint32_t old_header = switch_operands(insn.pc().value()) - insn.pc().value();
    return insn.length() - old_header + (switch_operands(position) - position);
  }
  if (!wide) return insn.length();
  return is_conditional(insn.opcode()) ? kInvertedIf + kGotoW : kGotoW;
}

void CodeAssembler::lay_out(const Context& context) {
  const std::uint8_t* bytes = context.code.bytes().data();
  const std::uint32_t end = context.code.length();
  const CodeEdits& edits = context.edits;
  map_.labels_.resize(end + 1);
  map_.positions_.assign(end + 1, CodeMap::kNone);
  std::uint32_t at = 0;
  for (const SnippetId id : edits.entry) at += edits.at(id).size;
  auto insertion = edits.insertions.begin();
  const auto insert_all = [&](std::uint32_t key) {
    for (; insertion != edits.insertions.end() && insertion->key == key; ++insertion) at += edits.at(insertion->snippet).size;
  };
  std::size_t jump = 0;
  for (std::uint32_t pc = 0; pc < end;) {
    map_.labels_[pc] = at;
    insert_all(pc * 2);
    map_.positions_[pc] = at;
    const OpcodeInfo& info = kOpcodes[bytes[pc]];
    const std::uint32_t length = info.length != 0 ? info.length : Instruction(bytes, pc).length();
    at += is_jump(info.flow) ? jump_length(Instruction(bytes, pc), at, wide_jumps_[jump++] != 0) : length;
    insert_all(pc * 2 + 1);
    pc += length;
  }
  map_.labels_[end] = at;
  map_.stubs_.clear();
  for (std::size_t i = 0; i < edits.stubs.size(); ++i) {
    map_.stubs_.push_back(at);
    at += edits.at(edits.stubs[i].snippet).size;
    if (edits.stubs[i].jump) at += wide_stubs_[i] != 0 ? kGotoW : kGoto;
  }
  code_size_ = at;
}

std::uint32_t CodeAssembler::target_of(const Context& context, Pc from, std::uint32_t which, Pc original) const {
  const auto& redirects = context.edits.redirects;
  if (!redirects.empty()) {
    const auto found = std::lower_bound(redirects.begin(), redirects.end(), std::pair(from, which), [](const CodeEdits::Redirect& r, const auto& key) {
      return std::pair(r.from, r.which) < key;
    });
    if (found != redirects.end() && found->from == from && found->which == which) return map_.stub(found->stub);
  }
  return map_.label(original);
}

bool CodeAssembler::widen(const Context& context) {
  if (code_size_ <= static_cast<std::uint32_t>(std::numeric_limits<std::int16_t>::max())) return false;
  bool changed = false;
  const std::vector<Pc>& jumps = context.code.jumps();
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const Instruction insn = context.code.at(jumps[i]);
    if (wide_jumps_[i] != 0 || !insn.is_branch() || insn.length() == kGotoW) continue;
    const std::int64_t target = target_of(context, insn.pc(), JumpEdge::kTaken, insn.branch_target());
    if (fits_short(target - map_.position(insn.pc()))) continue;
    wide_jumps_[i] = 1;
    changed = true;
  }
  for (std::size_t i = 0; i < context.edits.stubs.size(); ++i) {
    const CodeEdits::Stub& stub = context.edits.stubs[i];
    if (wide_stubs_[i] != 0 || !stub.jump) continue;
    const std::int64_t from = map_.stubs_[i] + context.edits.at(stub.snippet).size;
    if (fits_short(map_.of(*stub.jump) - from)) continue;
    wide_stubs_[i] = 1;
    changed = true;
  }
  return changed;
}

void CodeAssembler::write_snippet(const Context& context, SnippetId id) {
  const CodeEdits::Snippet& snippet = context.edits.at(id);
  const Bytes all = context.edits.bytes.view();
  std::uint8_t* to = context.out.extend(snippet.size);
  copy_run(to, all.data() + snippet.begin, snippet.size, all.data() + all.size() + ByteWriter::kSlack);
}

void CodeAssembler::write_jump(const Context& context, Instruction insn, bool wide) {
  if (insn.is_switch()) return write_switch(context, insn);
  const std::uint32_t position = map_.position(insn.pc());
  const std::uint32_t target = target_of(context, insn.pc(), JumpEdge::kTaken, insn.branch_target());
  ByteWriter& out = context.out;
  if (!wide) {
    out.u1(static_cast<std::uint8_t>(insn.opcode()));
    if (insn.length() == kGotoW) {
      out.u4(target - position);
    } else {
      out.u2(u2_of(target - position));
    }
    return;
  }
  std::uint32_t from = position;
  if (is_conditional(insn.opcode())) {
    out.u1(static_cast<std::uint8_t>(inverse_of(insn.opcode())));
    out.u2(kInvertedIf + kGotoW);
    from += kInvertedIf;
  }
  out.u1(static_cast<std::uint8_t>(insn.opcode() == Opcode::jsr ? Opcode::jsr_w : Opcode::goto_w));
  out.u4(target - from);
}

void CodeAssembler::write_switch(const Context& context, Instruction insn) {
  const std::uint32_t pc = insn.pc().value();
  const std::uint32_t position = map_.position(insn.pc());
  const Switch cases = insn.as_switch();
  ByteWriter& out = context.out;
  out.u1(static_cast<std::uint8_t>(insn.opcode()));
  // Padding should be zero, but is copied as far as it goes: a class that nobody edited stays the same to the byte.
  const std::uint32_t old_padding = switch_operands(pc) - pc - 1;
  const std::uint32_t new_padding = switch_operands(position) - position - 1;
  const std::uint32_t kept = old_padding == new_padding ? old_padding : 0;
  out.bytes(insn.bytes().subspan(1, kept));
  out.zeros(new_padding - kept);
  const auto offset = [&](std::uint32_t which, Pc original) { return target_of(context, insn.pc(), which, original) - position; };
  out.u4(offset(JumpEdge::kDefault, cases.default_target()));
  if (cases.is_table()) {
    out.u4(static_cast<std::uint32_t>(cases.low()));
    out.u4(static_cast<std::uint32_t>(cases.low()) + cases.size() - 1);
  } else {
    out.u4(cases.size());
  }
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    if (!cases.is_table()) out.u4(static_cast<std::uint32_t>(cases.key(i)));
    out.u4(offset(i, cases.target(i)));
  }
}

void CodeAssembler::write_stubs(const Context& context) {
  for (std::size_t i = 0; i < context.edits.stubs.size(); ++i) {
    const CodeEdits::Stub& stub = context.edits.stubs[i];
    write_snippet(context, stub.snippet);
    if (!stub.jump) continue;
    const std::uint32_t distance = map_.of(*stub.jump) - (map_.stubs_[i] + context.edits.at(stub.snippet).size);
    if (wide_stubs_[i] != 0) {
      context.out.u1(static_cast<std::uint8_t>(Opcode::goto_w));
      context.out.u4(distance);
    } else {
      context.out.u1(static_cast<std::uint8_t>(Opcode::goto_));
      context.out.u2(u2_of(distance));
    }
  }
}

void CodeAssembler::write_code(const Context& context) {
  const Code& code = context.code;
  const std::vector<Pc>& jumps = code.jumps();
  const auto& insertions = context.edits.insertions;
  const std::uint8_t* bytes = code.bytes().data();
  const Bytes file = code.owner().bytes();
  const std::uint8_t* limit = file.data() + file.size();
  for (const SnippetId id : context.edits.entry) write_snippet(context, id);
  std::uint32_t copied = 0;  // original bytes that are done
  const auto copy_up_to = [&](std::uint32_t pc) {
    if (pc > copied) copy_run(context.out.extend(pc - copied), bytes + copied, pc - copied, limit);
    copied = pc;
  };
  auto insertion = insertions.begin();
  std::size_t jump = 0;
  while (insertion != insertions.end() || jump < jumps.size()) {
    if (insertion != insertions.end() && (jump == jumps.size() || insertion->key <= jumps[jump].value() * 2)) {
      const Pc pc(insertion->key / 2);
      copy_up_to((insertion->key & 1) != 0 ? code.at(pc).next_pc().value() : pc.value());
      write_snippet(context, insertion->snippet);
      ++insertion;
    } else {
      const Instruction insn = code.at(jumps[jump]);
      copy_up_to(insn.pc().value());
      write_jump(context, insn, wide_jumps_[jump] != 0);
      copied = insn.next_pc().value();
      ++jump;
    }
  }
  copy_up_to(code.length());
  write_stubs(context);
}

void CodeAssembler::write_handlers(const Context& context) {
  context.out.u2(u2_of(static_cast<std::uint32_t>(context.edits.handlers.size())));
  for (const Handler& handler : context.edits.handlers) {
    context.out.u2(u2_of(map_.label(handler.start)));
    context.out.u2(u2_of(map_.label(handler.end)));
    context.out.u2(u2_of(map_.of(handler.handler)));
    context.out.u2(handler.catch_type.value());
  }
}

// A snippet may stand where the stack is as high as it gets, and a landing pad starts with one value on it.
std::uint32_t CodeAssembler::max_stack(const Context& context) const {
  const CodeEdits& edits = context.edits;
  std::uint32_t inserted = 0;
  std::uint32_t standing = context.code.max_stack();
  for (const CodeEdits::Insertion& insertion : edits.insertions) inserted = std::max(inserted, edits.at(insertion.snippet).max_stack);
  for (const SnippetId id : edits.entry) standing = std::max(standing, edits.at(id).max_stack);
  for (const CodeEdits::Stub& stub : edits.stubs) {
    const std::uint32_t needed = edits.at(stub.snippet).max_stack;
    if (stub.frame.kind == StubFrame::Kind::kSameAs) {
      inserted = std::max(inserted, needed);
    } else {
      standing = std::max(standing, 1 + needed);
    }
  }
  return std::max(standing, context.code.max_stack() + inserted);
}

// Labels inside snippets, appended stubs, and what follows an inverted branch.
void CodeAssembler::collect_inner_frames(const Context& context) {
  const CodeEdits& edits = context.edits;
  frames_.clear();
  const auto each_label = [&](SnippetId id, auto&& want) {
    const CodeEdits::Snippet& snippet = edits.at(id);
    for (std::uint32_t i = 0; i < snippet.frame_count; ++i) want(edits.frame_offsets[snippet.first_frame + i]);
  };
  std::uint32_t at = 0;
  for (const SnippetId id : edits.entry) {
    each_label(id, [&](std::uint32_t label) { frames_.want_in_entry(at + label); });
    at += edits.at(id).size;
  }
  if (!edits.frame_offsets.empty()) {
    std::uint32_t key = ~std::uint32_t{0};
    for (const CodeEdits::Insertion& insertion : edits.insertions) {
      const Pc pc(insertion.key / 2);
      const bool after = (insertion.key & 1) != 0;
      const Pc state = after ? context.code.at(pc).next_pc() : pc;
      if (insertion.key != key) {
        key = insertion.key;
        // Insertions after pc end where the next label begins, so their start is found from there.
        at = map_.label(state);
        if (after) {
          for (const auto* same = &insertion; same != edits.insertions.data() + edits.insertions.size() && same->key == key; ++same) {
            at -= edits.at(same->snippet).size;
          }
        }
      }
      each_label(insertion.snippet, [&](std::uint32_t label) { frames_.want(at + label, state); });
      at += edits.at(insertion.snippet).size;
    }
  }
  for (std::size_t i = 0; i < context.code.jumps().size(); ++i) {
    const Instruction insn = context.code.at(context.code.jumps()[i]);
    if (wide_jumps_[i] != 0 && is_conditional(insn.opcode())) {
      frames_.want(map_.position(insn.pc()) + kInvertedIf + kGotoW, insn.next_pc());
    }
  }
  for (std::size_t i = 0; i < edits.stubs.size(); ++i) {
    const CodeEdits::Stub& stub = edits.stubs[i];
    frames_.want(map_.stubs_[i], stub.frame);
    each_label(stub.snippet, [&](std::uint32_t label) { frames_.want(map_.stubs_[i] + label, stub.frame); });
  }
}

Result<void> CodeAssembler::write_attributes(const Context& context) {
  const Code& code = context.code;
  ByteWriter& out = context.out;
  const std::size_t count_at = out.size();
  std::uint16_t count = code.attributes().size();
  out.u2(count);
  const bool has_table = code.attributes().find(attribute::kStackMapTable).has_value();
  // A class of version 50 may leave frames out and be verified the old way; one with some of its frames could not.
  const bool uses_frames = code.owner().has_frames() &&
                           (has_table || code.owner().major_version() > kFramesMajor ||
                            (code.jumps().empty() && code.exceptions().empty()));
  const auto open = [&](PoolIndex name) {
    out.u2(name.value());
    out.u4(0);
    return out.size();
  };
  const auto close = [&](std::size_t begin) { out.patch_u4(begin - 4, static_cast<std::uint32_t>(out.size() - begin)); };
  for (const Attribute& attribute : code.attributes()) {
    const std::size_t begin = open(attribute.name_index);
    if (uses_frames && attribute.name == attribute::kStackMapTable) {
      frames_.write(code, context.stack_maps, context.edits, map_, context.pool, out);
    } else if (!TRY(rewrite_code_table(attribute, map_, context.edits.handlers, out))) {
      out.bytes(attribute.content);
    }
    close(begin);
  }
  if (uses_frames && !has_table && !frames_.wants_none()) {
    const std::size_t begin = open(context.pool.utf8(attribute::kStackMapTable));
    if (frames_.write(code, context.stack_maps, context.edits, map_, context.pool, out) == 0) {
      out.truncate(begin - 6);
    } else {
      close(begin);
      out.patch_u2(count_at, ++count);
    }
  }
  return {};
}

Result<void> CodeAssembler::assemble(const Code& code, const StackMapTable& stack_maps, CodeEdits& edits,
                                     PoolBuilder& pool, ByteWriter& out) {
  // Passes mostly walk forward, so this is a check more often than a sort. Insertions at one place keep their order.
  if (!std::ranges::is_sorted(edits.insertions, {}, &CodeEdits::Insertion::key)) {
    std::ranges::stable_sort(edits.insertions, {}, &CodeEdits::Insertion::key);
  }
  std::ranges::sort(edits.redirects, {}, [](const CodeEdits::Redirect& r) { return std::pair(r.from, r.which); });
  const Context context{code, stack_maps, edits, pool, out};
  wide_jumps_.assign(code.jumps().size(), 0);
  wide_stubs_.assign(edits.stubs.size(), 0);
  do {
    lay_out(context);
    if (code_size_ > kMaxCodeLength) {
      return Error{ErrorCode::kTooLarge, "would take " + std::to_string(code_size_) + " bytes of code, 65535 is the limit",
                   {.path = "Code", .byte_offset = {}}};
    }
  } while (widen(context));
  std::uint32_t local_slots = code.max_locals();
  for (const LocalType type : edits.locals) local_slots += type == LocalType::kLong ? 2 : 1;
  const std::uint32_t stack = max_stack(context);
  if (stack > 65535 || edits.handlers.size() > 65535) {
    return Error{ErrorCode::kTooLarge, stack > 65535 ? "needs an operand stack of more than 65535 slots" : "needs more than 65535 exception handlers",
                 {.path = "Code", .byte_offset = {}}};
  }
  out.u2(u2_of(stack));
  out.u2(u2_of(local_slots));
  out.u4(code_size_);
  write_code(context);
  write_handlers(context);
  collect_inner_frames(context);
  return write_attributes(context);
}

}  // namespace sonde::classfile
