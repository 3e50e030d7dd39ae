// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/frozen_walk_x64.h"

#include "agent/vm/hotspot/frame_notes.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr int kMaxChunks = 1000;

}  // namespace

bool FrozenWalk::read_oop(std::uint64_t address, std::uint64_t& oop) SIGNAL_SAFE {
  if (heap_.has_colors()) return heap_.read_colored(address, oop);
  if (!frozen_.oops_are_narrow) return heap_.read(address, oop);
  std::uint32_t narrow = 0;
  if (!heap_.read(address, narrow)) return false;
  oop = narrow == 0 ? 0 : frozen_.oop_base + (std::uint64_t{narrow} << frozen_.oop_shift);
  return true;
}

bool FrozenWalk::is_object(std::uint64_t oop) const SIGNAL_SAFE {
  return oop % 8 == 0 && oop >= frozen_.heap_low && oop + 256 < frozen_.heap_high;
}

// With a continuation in another one it is not known whether the thread has entered it already.
bool FrozenWalk::run_of_thread(std::uint64_t thread_object) SIGNAL_SAFE {
  std::uint64_t thread = 0;
  std::uint64_t continuation = 0;
  std::uint64_t outer = 0;
  return read_oop(thread_object, thread) && is_object(thread) &&
         read_oop(thread + frozen_.thread_continuation, continuation) && is_object(continuation) &&
         read_oop(continuation + frozen_.continuation_parent, outer) && outer == 0 && run(continuation);
}

bool FrozenWalk::run(std::uint64_t continuation) SIGNAL_SAFE {
  std::uint64_t chunk = 0;
  if (!is_object(continuation) || !read_oop(continuation + frozen_.continuation_tail, chunk)) return false;
  for (int i = 0; chunk != 0 && i < kMaxChunks; ++i) {
    if (!is_object(chunk) || !walk_chunk(chunk) || !read_oop(chunk + frozen_.chunk_parent, chunk)) return false;
  }
  return chunk == 0;
}

// stackChunkFrameStream.inline.hpp. Offsets inside interpreted frames are relative to their frame pointer.
bool FrozenWalk::walk_chunk(std::uint64_t chunk) SIGNAL_SAFE {
  std::uint32_t header = 0;
  std::int32_t size = 0;
  std::int32_t first = 0;
  std::int32_t bottom = 0;
  if (!heap_.read(chunk + frozen_.klass_at, header) || !heap_.read(chunk + frozen_.chunk_size, size) ||
      !heap_.read(chunk + frozen_.chunk_sp, first) || !heap_.read(chunk + frozen_.chunk_bottom, bottom)) {
    return false;
  }
  // The class is the JDK's own, and is never unloaded.
  std::uint32_t fields = 0;
  if (!heap_.read(frozen_.klass_of(header) + frozen_.klass_layout, fields)) return false;
  const std::uint64_t stack = chunk + (fields & ~7U);
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
    std::uint64_t pc = 0;
    if (!is_in_chunk(sp - 2 * kWord) || !heap_.read(sp - kWord, pc) || pc == yields_to_) return false;
    if (cache_.is_interpreter(pc)) {
      const std::uint64_t link = sp - 2 * kWord;
      std::uint64_t words = 0;
      if (!heap_.read(link, words)) return false;
      const std::uint64_t fp = link + words * kWord;
      if (!is_in_chunk(fp) || !is_in_chunk(fp + kInterpretedBcp * 8LL)) return false;
      std::uint64_t method = 0;
      std::uint64_t bcp = 0;
      std::uint64_t locals = 0;
      std::uint64_t sender = 0;
      if (!heap_.read(fp + kInterpretedMethod * 8LL, method) || !heap_.read(fp + kInterpretedBcp * 8LL, bcp) ||
          !heap_.read(fp + kInterpretedLocals * 8LL, locals) || !heap_.read(fp + kInterpretedSenderSp * 8LL, sender)) {
        return false;
      }
      note_method(sample_, methods_, method, bcp);
      if (fp + locals * kWord + kWord >= end) return true;
      unextended = fp + sender * kWord;
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
