// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. Where the return address of an interrupted compiled method is while its frame is being made or
// removed, told by the instructions HotSpot emits (c1_MacroAssembler_x86.cpp, c2_MacroAssembler_x86.cpp, x86_64.ad):
//
//   prologue   [stack bang]  push rbp  [mov rbp, rsp]  sub rsp, n  [barrier at method entry]
//          or  sub rsp, n  mov [rsp + n - 8], rbp  [barrier at method entry]
//   epilogue   add rsp, n  pop rbp  [cmp rsp, [r15 + poll]  ja slow]  ret
//   unwinding  add rsp, n  pop rbp  jmp stub
//   slow       lea r10, [poll's address]  mov [r15 + saved pc], r10  jmp handler
//
// Words of a frame that was just made are what others left there, return addresses among them. So it matters to know
// which instruction it is: a guess that finds a word to go on with shows a stack that never was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

enum class FrameEdge : std::uint8_t {
  kWhole,      // the frame is there, with the size of its nmethod
  kPushed,     // the return address is above the caller's rbp, which is on top
  kNone,       // the return address is on top of the stack
  kUnsaved,    // the frame is there, but the caller's rbp is still in the register
  kUncertain,  // in a prologue of another form: kPushed or kNone
};

struct CompiledCode {
  const std::uint8_t* begin;
  std::uint32_t size;
  std::int32_t frame_complete;  // offset behind the prologue
  std::int32_t frame_words;     // with the return address
};

class FrameEdges {
 public:
  explicit FrameEdges(const CompiledCode& code) SIGNAL_SAFE : code_(code) {}

  // Of the instruction at an offset, which has not been executed yet.
  [[nodiscard]] FrameEdge at(std::int64_t offset) const SIGNAL_SAFE {
    if (offset < code_.frame_complete) return in_prologue(offset);
    if (is_at(offset, {0x5d})) return FrameEdge::kPushed;
    const bool is_gone = is_at(offset, {0xc3}) || is_poll(offset) || is_behind_poll(offset) || is_slow_poll(offset) ||
                         is_unwinding(offset);
    return is_gone ? FrameEdge::kNone : FrameEdge::kWhole;
  }
  // Is the frame being made or removed there?
  [[nodiscard]] bool is_edge(std::int64_t offset) const SIGNAL_SAFE {
    return offset < code_.frame_complete || at(offset) != FrameEdge::kWhole;
  }

 private:
  static constexpr std::int64_t kLongestPrologue = 64;  // from `sub` on

  struct Bytes {
    std::uint8_t first;
    std::uint8_t second = 0;
    std::uint8_t third = 0;
    int count = 1;
    constexpr Bytes(std::uint8_t a) : first(a) {}  // NOLINT(google-explicit-constructor)
    constexpr Bytes(std::uint8_t a, std::uint8_t b) : first(a), second(b), count(2) {}
    constexpr Bytes(std::uint8_t a, std::uint8_t b, std::uint8_t c) : first(a), second(b), third(c), count(3) {}
  };

  [[nodiscard]] bool is_at(std::int64_t offset, const Bytes& bytes) const SIGNAL_SAFE {
    if (offset < 0 || offset + bytes.count > code_.size) return false;
    const std::uint8_t* at = code_.begin + offset;
    return at[0] == bytes.first && (bytes.count < 2 || at[1] == bytes.second) &&
           (bytes.count < 3 || at[2] == bytes.third);
  }

  // Length of `sub rsp, bytes` at an offset; 0 if it is something else.
  [[nodiscard]] std::int64_t sub_rsp(std::int64_t offset, std::int64_t bytes) const SIGNAL_SAFE {
    if (is_at(offset, {0x48, 0x83, 0xec}) && offset + 4 <= code_.size) {
      return static_cast<std::int8_t>(code_.begin[offset + 3]) == bytes ? 4 : 0;
    }
    if (!is_at(offset, {0x48, 0x81, 0xec}) || offset + 7 > code_.size) return 0;
    std::int32_t number = 0;
    std::memcpy(&number, code_.begin + offset + 3, sizeof number);
    return number == bytes ? 7 : 0;
  }

  [[nodiscard]] FrameEdge in_prologue(std::int64_t offset) const SIGNAL_SAFE {
    const std::int64_t frame = std::int64_t{code_.frame_words} * 8 - 8;  // without the return address
    const std::int64_t first = std::max<std::int64_t>(0, code_.frame_complete - kLongestPrologue);
    for (std::int64_t sub = code_.frame_complete - 4; sub >= first; --sub) {
      if (!is_at(sub, {0x48})) continue;
      const bool is_mov = is_at(sub - 3, {0x48, 0x8b, 0xec}) || is_at(sub - 3, {0x48, 0x89, 0xe5});
      const std::int64_t push = is_mov ? sub - 4 : sub - 1;
      if (const std::int64_t length = sub_rsp(sub, frame - 8); length != 0 && is_at(push, {0x55})) {
        return offset <= push ? FrameEdge::kNone : offset <= sub ? FrameEdge::kPushed : FrameEdge::kWhole;
      }
      if (const std::int64_t length = sub_rsp(sub, frame); length != 0) {
        return offset <= sub ? FrameEdge::kNone : offset == sub + length ? FrameEdge::kUnsaved : FrameEdge::kWhole;
      }
    }
    return FrameEdge::kUncertain;  // a frame of two words has no `sub`
  }

  [[nodiscard]] bool is_poll(std::int64_t offset) const SIGNAL_SAFE {
    return is_at(offset, {0x49, 0x3b, 0xa7}) || is_at(offset, {0x49, 0x3b, 0x67});
  }
  // `ja` is frequent elsewhere, too.
  [[nodiscard]] bool is_behind_poll(std::int64_t offset) const SIGNAL_SAFE {
    const bool has_poll = is_at(offset - 7, {0x49, 0x3b, 0xa7}) || is_at(offset - 4, {0x49, 0x3b, 0x67});
    return has_poll && (is_at(offset, {0x0f, 0x87}) || is_at(offset, {0x77}));
  }
  [[nodiscard]] bool is_slow_poll(std::int64_t offset) const SIGNAL_SAFE {
    for (const std::int64_t begin : {offset, offset - 7, offset - 14}) {
      if (is_at(begin, {0x4c, 0x8d, 0x15}) && is_at(begin + 7, {0x4d, 0x89, 0x97}) && is_at(begin + 14, {0xe9})) {
        return true;
      }
    }
    return false;
  }

  // An exception leaves the method.
  [[nodiscard]] bool is_unwinding(std::int64_t offset) const SIGNAL_SAFE {
    const bool is_removed = is_at(offset - 5, {0x48, 0x83, 0xc4}) || is_at(offset - 8, {0x48, 0x81, 0xc4});
    return is_at(offset, {0xe9}) && is_at(offset - 1, {0x5d}) && is_removed;
  }

  CompiledCode code_;
};

// C1 pushes two arguments of its subtype check, and pops them, or what became of them, when that returns. Is that
// there?
inline bool pops_arguments(const std::uint8_t* at) SIGNAL_SAFE {
  for (int i = 0; i < 2; ++i) {
    if (*at == 0x41) ++at;  // of r8 to r15
    if ((*at++ & 0xf8) != 0x58) return false;
  }
  return true;
}

}  // namespace sonde::agent::hotspot
