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

void copy_short(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
  if (size <= kWord) [[likely]] {
    std::memcpy(to, from, kWord);
  } else {
    std::memcpy(to, from, size);
  }
}

Error too_large(std::size_t code_size) {
  return {ErrorCode::kTooLarge,
          "would take " + std::to_string(code_size) + " bytes of code, 65535 is the limit",
          {.path = "Code", .byte_offset = {}}};
}

}  // namespace

std::uint32_t CodeMap::position_near(std::uint32_t offset) const {
  std::uint32_t start = offset;
  while (!code_->is_instruction(Pc(start))) --start;  // offset 0 always starts an instruction
  return position(Pc(start)) + (offset - start);
}

// What the code can take at most: each jump wide, each switch with the most padding.
std::size_t CodeAssembler::largest_size(const Context& context) const {
  const CodeEdits& edits = context.edits;
  std::size_t size = context.code.length() + context.code.jumps().size() * (kInvertedIf + kGotoW);
  for (const CodeEdits::Snippet& snippet : edits.snippets) size += std::size_t{snippet.insertions} * snippet.size;
  for (const SnippetId id : edits.entry) size += edits.at(id).size;
  for (const CodeEdits::Stub& stub : edits.stubs) size += edits.at(stub.snippet).size + kGotoW;
  return size;
}

// The bytes of the code with a word to read behind them, which all classes have but those that end right there.
const std::uint8_t* CodeAssembler::readable_code(const Code& code) {
  const Bytes file = code.owner().bytes();
  const Bytes bytes = code.bytes();
  const std::uint8_t* const end = bytes.data() + bytes.size();
  if (static_cast<std::size_t>(file.data() + file.size() - end) >= kWord) [[likely]]
    return bytes.data();
  padded_code_.assign(bytes.begin(), bytes.end());
  padded_code_.resize(bytes.size() + kWord);
  return padded_code_.data();
}

// Instructions are copied up to the place of an insertion, then the insertion, and so on. Branches are copied like all
// others; those that change their size are few and stand in resized_. Returns the size.
std::size_t CodeAssembler::write_code(const Context& context, const std::uint8_t* original, std::uint8_t* base) {
  const CodeEdits& edits = context.edits;
  std::size_t at = 0;
  for (const SnippetId id : edits.entry) at = write_snippet(edits, id, base, at);
  CodeMap::Place* const places = map_.places_.data();
  const std::uint32_t* resized = resized_.data();
  const std::uint16_t* next = context.code.starts().data() + 1;
  const CodeEdits::Insertion* const last = edits.insertions.data() + edits.insertions.size() - 1;
  // The snippet of the last insertion, if it fits into a word: the same one often follows.
  std::optional<SnippetId> short_one;
  std::uint64_t word = 0;
  std::size_t size = 0;
  std::size_t pc = 0;
  places[0].label = static_cast<std::uint32_t>(at);
  for (const CodeEdits::Insertion* insertion = edits.insertions.data();; ++insertion) {
    const std::size_t key = insertion->key;
    while (pc * 2 < key) {
      const std::size_t following = *next++;
      places[pc].position = static_cast<std::uint32_t>(at);
      if (pc == *resized) [[unlikely]] {
        at = write_resized(Instruction(original, *resized++), base, at);
      } else {
        std::memcpy(base + at, original + pc, kWord);
        at += following - pc;
      }
      pc = following;
      places[pc].label = static_cast<std::uint32_t>(at);
    }
    if (insertion == last) break;
    if (insertion->snippet == short_one) {
      std::memcpy(base + at, &word, kWord);
      at += size;
    } else {
      size = edits.at(insertion->snippet).size;
      at = write_snippet(edits, insertion->snippet, base, at);
      std::memcpy(&word, base + at - size, kWord);
      short_one = size <= kWord ? std::optional(insertion->snippet) : std::nullopt;
    }
    // What is inserted after an instruction stands before the label of the next one.
    if ((key & 1) != 0) places[pc].label = static_cast<std::uint32_t>(at);
  }
  return write_stubs(context, base, at);
}

std::size_t CodeAssembler::write_snippet(const CodeEdits& edits, SnippetId id, std::uint8_t* base, std::size_t at) {
  const CodeEdits::Snippet& snippet = edits.at(id);
  copy_short(base + at, edits.bytes.view().data() + snippet.begin, snippet.size);
  return at + snippet.size;
}

void CodeAssembler::find_resized(const Code& code) {
  resized_.clear();
  if (code.has_switches() || !wide_jumps_.empty()) {
    for (std::size_t i = 0; i < code.jumps().size(); ++i) {
      const Pc pc = code.jumps()[i];
      if (is_wide(i) || code.at(pc).is_switch()) resized_.push_back(pc.value());
    }
  }
  resized_.push_back(code.length());
}

// The instruction in its final size, its offsets not filled in yet.
std::size_t CodeAssembler::write_resized(Instruction insn, std::uint8_t* base, std::size_t at) {
  const std::uint32_t pc = insn.pc().value();
  const Bytes original = insn.bytes();
  std::uint8_t* to = base + at;
  if (insn.is_switch()) {
    const std::uint32_t old_header = switch_operands(pc) - pc;
    const std::size_t new_header = switch_operands(static_cast<std::uint32_t>(at)) - at;
    to[0] = original[0];
    // Padding should be zero, but is copied where it fits: a class that nobody edited stays the same to the byte.
    std::memset(to + 1, 0, new_header - 1);
    if (old_header == new_header) std::memcpy(to, original.data(), old_header);
    std::memcpy(to + new_header, original.data() + old_header, original.size() - old_header);
    return at + new_header + original.size() - old_header;
  }
  if (is_conditional(insn.opcode())) {
    to[0] = static_cast<std::uint8_t>(inverse_of(insn.opcode()));
    store_u2(to + 1, kInvertedIf + kGotoW);
    to += kInvertedIf;
    at += kInvertedIf;
  }
  to[0] = static_cast<std::uint8_t>(insn.opcode() == Opcode::jsr ? Opcode::jsr_w : Opcode::goto_w);
  return at + kGotoW;
}

std::size_t CodeAssembler::write_stubs(const Context& context, std::uint8_t* base, std::size_t at) {
  const CodeEdits& edits = context.edits;
  for (std::size_t i = 0; i < edits.stubs.size(); ++i) {
    map_.stubs_[i] = static_cast<std::uint32_t>(at);
    at = write_snippet(edits, edits.stubs[i].snippet, base, at);
    if (!edits.stubs[i].jump) continue;
    base[at] = static_cast<std::uint8_t>(wide_stubs_[i] != 0 ? Opcode::goto_w : Opcode::goto_);
    at += wide_stubs_[i] != 0 ? kGotoW : kGoto;
  }
  return at;
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

void CodeAssembler::write_handlers(const Context& context) {
  constexpr std::size_t kRow = 8;
  const std::vector<Handler>& handlers = context.edits.handlers;
  std::uint8_t* to = context.out.extend(2 + handlers.size() * kRow);
  store_u2(to, u2_of(static_cast<std::uint32_t>(handlers.size())));
  to += 2;
  for (const Handler& handler : handlers) {
    store_u2(to, u2_of(map_.label(handler.start)));
    store_u2(to + 2, u2_of(map_.label(handler.end)));
    store_u2(to + 4, u2_of(map_.of(handler.handler)));
    store_u2(to + 6, handler.catch_type.value());
    to += kRow;
  }
}

// A snippet may stand where the stack is as high as it gets, and a landing pad starts with one value on it.
std::uint32_t CodeAssembler::max_stack(const Context& context) const {
  const CodeEdits& edits = context.edits;
  std::uint32_t inserted = 0;
  for (const CodeEdits::Snippet& snippet : edits.snippets) {
    if (snippet.insertions != 0) inserted = std::max(inserted, snippet.max_stack);
  }
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
      if (insertion.key == context.code.length() * 2) break;
      const Pc pc(insertion.key / 2);
      const bool after = (insertion.key & 1) != 0;
      const Pc state = after ? context.code.at(pc).next_pc() : pc;
      if (insertion.key != key) {
        key = insertion.key;
        // Insertions after pc end where the next label begins, so their start is found from there.
        at = map_.label(state);
        if (after) {
          for (const auto* same = &insertion; same->key == key; ++same) at -= edits.at(same->snippet).size;
        }
      }
      each_label(insertion.snippet, [&](std::uint32_t label) { frames_.want(at + label, state); });
      at += edits.at(insertion.snippet).size;
    }
  }
  for (std::size_t i = 0; i < wide_jumps_.size(); ++i) {
    const Instruction insn = context.code.at(context.code.jumps()[i]);
    if (is_wide(i) && is_conditional(insn.opcode())) {
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
    store_u2(out.extend(Attribute::kHeader), name.value());
    return out.size();
  };
  const auto close = [&](std::size_t begin) {
    out.patch_u4(begin - 4, static_cast<std::uint32_t>(out.size() - begin));
  };
  for (const Attribute& attribute : code.attributes()) {
    if (uses_frames && attribute.is(attribute::kStackMapTable)) {
      const std::size_t begin = open(attribute.name_index);
      frames_.write(code, context.stack_maps, context.edits, map_, context.pool, out);
      close(begin);
      continue;
    }
    // None of the others changes its size.
    const Bytes whole = attribute.whole();
    std::uint8_t* const copy = out.extend(whole.size());
    std::memcpy(copy, whole.data(), whole.size());
    TRY(patch_code_table(attribute, map_, context.edits.handlers, copy + Attribute::kHeader));
  }
  if (uses_frames && !has_table && !frames_.wants_none()) {
    const std::size_t begin = open(context.pool.utf8(attribute::kStackMapTable));
    if (frames_.write(code, context.stack_maps, context.edits, map_, context.pool, out) == 0) {
      out.truncate(begin - Attribute::kHeader);
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
  edits.insertions.push_back({.key = code.length() * 2, .snippet = {}});  // ends every walk
  std::ranges::sort(edits.redirects, {}, [](const CodeEdits::Redirect& r) { return std::pair(r.from, r.which); });
  const Context context{code, stack_maps, edits, pool, out};
  map_.code_ = &code;
  if (map_.places_.size() <= code.length()) map_.places_.resize(code.length() + 1);
  map_.stubs_.resize(edits.stubs.size());
  wide_jumps_.clear();
  wide_stubs_.assign(edits.stubs.size(), 0);
  constexpr std::size_t kHeader = 8;                       // max_stack, max_locals, code_length
  constexpr std::size_t kHopeless = std::size_t{1} << 20;  // whatever its jumps turn out to take
  const std::size_t begin = out.size();
  const std::size_t largest = largest_size(context);
  if (largest > kHopeless) return too_large(largest);
  std::uint8_t* base = out.extend(kHeader + largest) + kHeader;
  const std::uint8_t* const original = readable_code(code);
  std::size_t code_size = 0;
  do {
    find_resized(code);
    code_size = write_code(context, original, base);
    if (code_size > kMaxCodeLength) return too_large(code_size);
  } while (!link(context, base));
  std::uint32_t local_slots = code.max_locals();
  for (const CodeEdits::Local& local : edits.locals) local_slots += local.slots();
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
  out.patch_u4(begin + 4, static_cast<std::uint32_t>(code_size));
  write_handlers(context);
  collect_inner_frames(context);
  return write_attributes(context);
}

}  // namespace sonde::classfile
