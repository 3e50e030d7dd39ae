// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_assembler.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
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

// Copies a few bytes as whole words, which both sides have room for.
constexpr std::size_t kWord = 8;
static_assert(kWord <= ByteWriter::kSlack);

std::uint8_t* copy_short(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
  if (size <= kWord) [[likely]] {
    std::memcpy(to, from, kWord);
  } else {
    std::memcpy(to, from, size);
  }
  return to + size;
}

std::uint32_t distance(const std::uint8_t* from, const std::uint8_t* to) {
  return static_cast<std::uint32_t>(to - from);
}

}  // namespace

std::uint32_t CodeMap::position(Pc pc) const {
  std::uint32_t at = label(pc);
  const auto& insertions = edits_->insertions;
  const std::uint32_t key = pc.value() * 2;
  for (auto i = std::ranges::lower_bound(insertions, key, {}, &CodeEdits::Insertion::key);
       i != insertions.end() && i->key == key; ++i) {
    at += edits_->at(i->snippet).size;
  }
  return at;
}

std::uint32_t CodeMap::position_near(std::uint32_t offset) const {
  std::uint32_t start = offset;
  while (!code_->is_instruction(Pc(start))) --start;  // offset 0 always starts an instruction
  return position(Pc(start)) + (offset - start);
}

// What the code can take at most: each jump wide, each switch with the most padding.
std::uint32_t CodeAssembler::largest_size(const Context& context) const {
  const CodeEdits& edits = context.edits;
  std::uint32_t size = context.code.length() + edits.inserted_bytes;
  size += static_cast<std::uint32_t>(context.code.jumps().size()) * (kInvertedIf + kGotoW);
  for (const SnippetId id : edits.entry) size += edits.at(id).size;
  for (const CodeEdits::Stub& stub : edits.stubs) size += edits.at(stub.snippet).size + kGotoW;
  return size;
}

std::uint8_t* CodeAssembler::write_code(const Context& context, std::uint8_t* base) {
  const Code& code = context.code;
  const CodeEdits& edits = context.edits;
  const std::uint8_t* bytes = code.bytes().data();
  const std::uint8_t* snippets = edits.bytes.view().data();
  const std::uint32_t end = code.length();
  // Whole words are read behind the last instruction; a class that ends right there is copied byte by byte.
  const Bytes file = code.owner().bytes();
  const bool room = static_cast<std::size_t>(file.data() + file.size() - (bytes + end)) >= kWord;
  std::uint8_t* to = base;
  const CodeEdits::Insertion* insertion = edits.insertions.data();
  const CodeEdits::Insertion* const last = insertion + edits.insertions.size();
  const CodeEdits::Snippet* const all_snippets = edits.snippets.data();
  const auto insert = [snippets, all_snippets](std::uint8_t* at, SnippetId id) {
    const CodeEdits::Snippet& snippet = all_snippets[id.value()];
    return copy_short(at, snippets + snippet.begin, snippet.size);
  };
  for (const SnippetId id : edits.entry) to = insert(to, id);
  const Pc* jump = code.jumps().data();
  const Pc* const last_jump = jump + code.jumps().size();
  std::uint32_t* labels = map_.labels_.data();
  const std::span<const std::uint16_t> starts = code.starts();
  std::uint32_t pc = 0;
  for (const std::uint16_t next : starts.subspan(1)) {
    const std::uint32_t length = next - pc;
    labels[pc] = distance(base, to);
    for (; insertion != last && insertion->key == pc * 2; ++insertion) to = insert(to, insertion->snippet);
    if (jump != last_jump && jump->value() == pc) {
      const auto number = static_cast<std::size_t>(jump - code.jumps().data());
      jump_positions_[number] = distance(base, to);
      to = write_jump(Instruction(bytes, pc), base, to, wide_jumps_[number] != 0);
      ++jump;
    } else if (room) [[likely]] {
      to = copy_short(to, bytes + pc, length);
    } else {
      std::memcpy(to, bytes + pc, length);
      to += length;
    }
    for (; insertion != last && insertion->key == pc * 2 + 1; ++insertion) to = insert(to, insertion->snippet);
    pc = next;
  }
  labels[end] = distance(base, to);
  return write_stubs(context, base, to);
}

// The instruction in its final size, its offsets not filled in yet.
std::uint8_t* CodeAssembler::write_jump(Instruction insn, std::uint8_t* base, std::uint8_t* to, bool wide) const {
  const std::uint32_t pc = insn.pc().value();
  const Bytes original = insn.bytes();
  if (insn.is_switch()) {
    const std::uint32_t position = distance(base, to);
    const std::uint32_t old_header = switch_operands(pc) - pc;
    const std::uint32_t new_header = switch_operands(position) - position;
    to[0] = original[0];
    // Padding should be zero, but is copied where it fits: a class that nobody edited stays the same to the byte.
    std::memset(to + 1, 0, new_header - 1);
    if (old_header == new_header) std::memcpy(to, original.data(), old_header);
    std::memcpy(to + new_header, original.data() + old_header, original.size() - old_header);
    return to + new_header + original.size() - old_header;
  }
  if (!wide) {
    std::memcpy(to, original.data(), original.size());
    return to + original.size();
  }
  if (is_conditional(insn.opcode())) {
    to[0] = static_cast<std::uint8_t>(inverse_of(insn.opcode()));
    store_u2(to + 1, kInvertedIf + kGotoW);
    to += kInvertedIf;
  }
  to[0] = static_cast<std::uint8_t>(insn.opcode() == Opcode::jsr ? Opcode::jsr_w : Opcode::goto_w);
  return to + kGotoW;
}

std::uint8_t* CodeAssembler::write_stubs(const Context& context, std::uint8_t* base, std::uint8_t* to) {
  const CodeEdits& edits = context.edits;
  for (std::size_t i = 0; i < edits.stubs.size(); ++i) {
    map_.stubs_[i] = distance(base, to);
    const CodeEdits::Snippet& snippet = edits.at(edits.stubs[i].snippet);
    to = copy_short(to, edits.bytes.view().data() + snippet.begin, snippet.size);
    if (!edits.stubs[i].jump) continue;
    to[0] = static_cast<std::uint8_t>(wide_stubs_[i] != 0 ? Opcode::goto_w : Opcode::goto_);
    to += wide_stubs_[i] != 0 ? kGotoW : kGoto;
  }
  return to;
}

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

bool CodeAssembler::link(const Context& context, std::uint8_t* base) {
  bool reaches = true;
  for (std::size_t i = 0; i < context.code.jumps().size(); ++i) {
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
  std::uint32_t from = jump_positions_[jump];
  if (wide_jumps_[jump] != 0 || insn.length() == kGotoW) {
    if (is_conditional(insn.opcode())) from += kInvertedIf;
    store_u4(base + from + 1, target - from);
    return true;
  }
  store_u2(base + from + 1, u2_of(target - from));
  if (fits_short(static_cast<std::int64_t>(target) - from)) [[likely]]
    return true;
  wide_jumps_[jump] = 1;
  return false;
}

void CodeAssembler::link_switch(const Context& context, std::uint8_t* base, std::size_t jump) {
  const Instruction insn = context.code.at(context.code.jumps()[jump]);
  const Switch cases = insn.as_switch();
  const std::uint32_t position = jump_positions_[jump];
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
  std::uint32_t inserted = edits.inserted_stack;
  std::uint32_t standing = context.code.max_stack();
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
          for (const auto* same = &insertion;
               same != edits.insertions.data() + edits.insertions.size() && same->key == key; ++same) {
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
  const bool has_table = code.stack_map_table().has_value();
  // A class of version 50 may leave frames out and be verified the old way; one with some of its frames could not.
  const bool uses_frames = code.owner().has_frames() && (has_table || code.owner().major_version() > kFramesMajor ||
                                                         (code.jumps().empty() && code.exceptions().empty()));
  const auto open = [&](PoolIndex name) {
    out.u2(name.value());
    out.u4(0);
    return out.size();
  };
  const auto close = [&](std::size_t begin) {
    out.patch_u4(begin - 4, static_cast<std::uint32_t>(out.size() - begin));
  };
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
  // Passes mostly walk forward. Insertions at one place keep their order.
  if (!edits.in_order) std::ranges::stable_sort(edits.insertions, {}, &CodeEdits::Insertion::key);
  std::ranges::sort(edits.redirects, {}, [](const CodeEdits::Redirect& r) { return std::pair(r.from, r.which); });
  const Context context{code, stack_maps, edits, pool, out};
  map_.code_ = &code;
  map_.edits_ = &edits;
  map_.labels_.resize(code.length() + 1);
  map_.stubs_.resize(edits.stubs.size());
  jump_positions_.resize(code.jumps().size());
  wide_jumps_.assign(code.jumps().size(), 0);
  wide_stubs_.assign(edits.stubs.size(), 0);
  constexpr std::size_t kHeader = 8;  // max_stack, max_locals, code_length
  const std::size_t begin = out.size();
  std::uint8_t* base = out.extend(kHeader + largest_size(context)) + kHeader;
  std::uint32_t code_size = 0;
  do {
    code_size = distance(base, write_code(context, base));
    if (code_size > kMaxCodeLength) {
      return Error{ErrorCode::kTooLarge,
                   "would take " + std::to_string(code_size) + " bytes of code, 65535 is the limit",
                   {.path = "Code", .byte_offset = {}}};
    }
  } while (!link(context, base));
  std::uint32_t local_slots = code.max_locals();
  for (const LocalType type : edits.locals) local_slots += type == LocalType::kLong ? 2 : 1;
  const std::uint32_t stack = max_stack(context);
  if (stack > 65535 || edits.handlers.size() > 65535) {
    return Error{
        ErrorCode::kTooLarge,
        stack > 65535 ? "needs an operand stack of more than 65535 slots" : "needs more than 65535 exception handlers",
        {.path = "Code", .byte_offset = {}}};
  }
  out.truncate(begin + kHeader + code_size);
  out.patch_u2(begin, u2_of(stack));
  out.patch_u2(begin + 2, u2_of(local_slots));
  out.patch_u4(begin + 4, code_size);
  write_handlers(context);
  collect_inner_frames(context);
  return write_attributes(context);
}

}  // namespace sonde::classfile
