// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_assembler.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace sonde::classfile {
namespace {

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

void CodeAssembler::write_handlers(const Context& context) {
  constexpr std::size_t kRow = 8;
  const std::vector<Handler>& handlers = context.edits.handlers;
  std::uint8_t* to = context.out.extend(2 + handlers.size() * kRow);
  store_u2(to, static_cast<std::uint16_t>(static_cast<std::uint32_t>(handlers.size())));
  to += 2;
  for (const Handler& handler : handlers) {
    const std::uint32_t start = handler.spares_inserted ? map_.position(handler.start) : map_.label(handler.start);
    store_u2(to, static_cast<std::uint16_t>(start));
    store_u2(to + 2, static_cast<std::uint16_t>(map_.label(handler.end)));
    store_u2(to + 4, static_cast<std::uint16_t>(map_.of(handler.handler)));
    store_u2(to + 6, handler.catch_type.value());
    to += kRow;
  }
}

// A snippet may stand where the stack is as high as it gets, and a landing pad starts with one value on it.
std::uint32_t CodeAssembler::max_stack(const Context& context) const {
  const CodeEdits& edits = context.edits;
  std::uint32_t inserted = inserted_stack_;
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
      if (insertion.key == CodeEdits::kNoMoreInsertions) break;
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
  const bool has_table = code.stack_map_table() != nullptr;
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
  for (const CodeTable& table : code.tables()) {
    if (uses_frames && table.kind == CodeTable::Kind::kFrames) {
      const std::size_t begin = open(PoolIndex(load_u2(table.begin)));
      frames_.write(code, context.stack_maps, context.edits, map_, context.pool, out);
      close(begin);
      continue;
    }
    // None of the others changes its size.
    const std::size_t whole = Attribute::kHeader + table.length;
    std::uint8_t* const copy = out.extend(whole);
    std::memcpy(copy, table.begin, whole);
    TRY(patch_code_table(table, map_, context.edits.handlers, copy + Attribute::kHeader));
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
  edits.insertions.push_back({.key = CodeEdits::kNoMoreInsertions, .snippet = {}});  // ends every walk
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
    std::optional<std::size_t> written = write_code(context, original, base);
    if (!written) [[unlikely]] {
      // Passes mostly walk forward. Insertions at one place keep their order.
      std::ranges::stable_sort(edits.insertions, {}, &CodeEdits::Insertion::key);
      written = write_code(context, original, base);
    }
    code_size = *written;
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
  out.patch_u2(begin, static_cast<std::uint16_t>(stack));
  out.patch_u2(begin + 2, static_cast<std::uint16_t>(local_slots));
  out.patch_u4(begin + 4, static_cast<std::uint32_t>(code_size));
  map_.new_length_ = static_cast<std::uint32_t>(code_size);
  write_handlers(context);
  collect_inner_frames(context);
  return write_attributes(context);
}

}  // namespace sonde::classfile
