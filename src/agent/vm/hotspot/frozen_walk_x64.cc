// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/frozen_walk_x64.h"

#include "agent/vm/hotspot/frame_notes.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr int kMaxChunks = 1000;

}  // namespace

std::uint64_t FrozenWalk::oop_at(std::uint64_t address) const SIGNAL_SAFE {
  if (!frozen_.oops_are_narrow) return load<std::uint64_t>(address);
  const std::uint64_t narrow = load<std::uint32_t>(address);
  return narrow == 0 ? 0 : frozen_.oop_base + (narrow << frozen_.oop_shift);
}

bool FrozenWalk::is_object(std::uint64_t oop) const SIGNAL_SAFE {
  return oop % 8 == 0 && oop >= frozen_.heap_low && oop + 256 < frozen_.heap_high;
}

bool FrozenWalk::run(std::uint64_t continuation) SIGNAL_SAFE {
  if (!is_object(continuation)) return false;
  std::uint64_t chunk = oop_at(continuation + frozen_.continuation_tail);
  for (int i = 0; chunk != 0 && i < kMaxChunks; ++i) {
    if (!is_object(chunk) || !walk_chunk(chunk)) return false;
    chunk = oop_at(chunk + frozen_.chunk_parent);
  }
  return chunk == 0;
}

// stackChunkFrameStream.inline.hpp. Offsets inside interpreted frames are relative to their frame pointer.
bool FrozenWalk::walk_chunk(std::uint64_t chunk) SIGNAL_SAFE {
  const std::uint64_t klass =
      frozen_.klass_base + (std::uint64_t{load<std::uint32_t>(chunk + 8)} << frozen_.klass_shift);
  const std::uint64_t stack = chunk + (load<std::uint32_t>(klass + frozen_.klass_layout) & ~7U);
  const auto size = load<std::int32_t>(chunk + frozen_.chunk_size);
  const auto first = load<std::int32_t>(chunk + frozen_.chunk_sp);
  const auto bottom = load<std::int32_t>(chunk + frozen_.chunk_bottom);
  if (stack - chunk > 256 || first < 0 || first > bottom || bottom > size ||
      stack + static_cast<std::uint64_t>(size) * kWord > frozen_.heap_high) {
    return false;
  }
  const std::uint64_t begin = stack;
  const std::uint64_t end = stack + static_cast<std::uint64_t>(bottom) * kWord;
  std::uint64_t sp = stack + static_cast<std::uint64_t>(first) * kWord;
  std::uint64_t unextended = sp;
  const auto is_in_chunk = [&](std::uint64_t address) { return address >= begin && address < end && address % 8 == 0; };
  while (sp < end && sample_.full_depth() < kMaxDepth) {
    if (!is_in_chunk(sp - 2 * kWord)) return false;
    const auto pc = load<std::uint64_t>(sp - kWord);
    if (cache_.is_interpreter(pc)) {
      const std::uint64_t link = sp - 2 * kWord;
      const std::uint64_t fp = link + load<std::uint64_t>(link) * kWord;
      if (!is_in_chunk(fp) || !is_in_chunk(fp + kInterpretedBcp * 8LL)) return false;
      note_method(sample_, methods_, load<std::uint64_t>(fp + kInterpretedMethod * 8LL),
                  load<std::uint64_t>(fp + kInterpretedBcp * 8LL));
      const std::uint64_t locals = fp + load<std::uint64_t>(fp + kInterpretedLocals * 8LL) * kWord;
      if (locals + kWord >= end) return true;
      unextended = fp + load<std::uint64_t>(fp + kInterpretedSenderSp * 8LL) * kWord;
      if (fp + 2 * kWord <= sp) return false;
      sp = fp + 2 * kWord;
      continue;
    }
    const std::uint64_t blob = cache_.blob_of(pc);
    if (blob == 0 || !cache_.is_nmethod(blob) || cache_.frame_size(blob) < 2) return false;
    note_compiled(sample_, methods_, cache_, blob, pc);
    const std::uint64_t next = unextended + static_cast<std::uint64_t>(cache_.frame_size(blob)) * kWord;
    if (next <= sp) return false;
    sp = unextended = next;
  }
  return sp >= end;
}

}  // namespace sonde::agent::hotspot
