// SPDX-License-Identifier: Apache-2.0
// Context: [signal] and [agent]. Finds what a program counter in HotSpot's code cache belongs to. It reads the code
// cache's own memory only, which the JVM never gives back, so no read can fail.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/vm/hotspot/frame_edges_x64.h"
#include "agent/vm/hotspot/layout.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

template <typename T>
inline T load(std::uint64_t address) SIGNAL_SAFE {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

class CodeCache {
 public:
  // Once the JVM is initialised.
  void find(const Layout& layout) {
    layout_ = layout;
    low_ = load<std::uint64_t>(layout.code_low);
    high_ = load<std::uint64_t>(layout.code_high);
    const auto heaps = load<std::uint64_t>(layout.heaps);
    const auto data = load<std::uint64_t>(heaps + layout.array_data);
    count_ = load<std::uint32_t>(heaps + layout.array_length);
    if (count_ > kMaxHeaps) count_ = kMaxHeaps;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const auto heap = load<std::uint64_t>(data + std::uint64_t{i} * 8);
      heaps_[i] = {.low = load<std::uint64_t>(heap + layout.heap_memory + layout.space_low),
                   .high_at = heap + layout.heap_memory + layout.space_high,
                   .segments = load<std::uint64_t>(heap + layout.heap_segments + layout.space_low),
                   .log2_segment = load<std::uint32_t>(heap + layout.heap_log2_segment)};
    }
  }

  [[nodiscard]] const Layout& layout() const SIGNAL_SAFE { return layout_; }
  [[nodiscard]] bool contains(std::uint64_t pc) const SIGNAL_SAFE { return pc >= low_ && pc < high_; }
  // Not only reserved: there is memory, also a few bytes further on.
  [[nodiscard]] bool is_in_use(std::uint64_t address) const SIGNAL_SAFE {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (address >= heaps_[i].low && address + kFewBytes < load<std::uint64_t>(heaps_[i].high_at)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_interpreter(std::uint64_t pc) const SIGNAL_SAFE {
    return pc >= layout_.interpreter_low && pc < layout_.interpreter_high;
  }

  // Where virtual threads end; 0 as long as there was none.
  [[nodiscard]] std::uint64_t continuation_return() const SIGNAL_SAFE {
    return layout_.continuation_return_at == 0 ? 0 : load<std::uint64_t>(layout_.continuation_return_at);
  }

  // Address of the CodeBlob, 0 if there is none.
  [[nodiscard]] std::uint64_t blob_of(std::uint64_t pc) const SIGNAL_SAFE {
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Heap& heap = heaps_[i];
      if (pc < heap.low || pc >= load<std::uint64_t>(heap.high_at)) continue;
      std::uint64_t segment = (pc - heap.low) >> heap.log2_segment;
      std::uint8_t distance = load<std::uint8_t>(heap.segments + segment);
      if (distance == kFreeSegment) return 0;
      while (distance > 0 && distance <= segment) {
        segment -= distance;
        distance = load<std::uint8_t>(heap.segments + segment);
      }
      const std::uint64_t block = heap.low + (segment << heap.log2_segment);
      if (load<std::uint8_t>(block + layout_.block_used) == 0) return 0;
      return block + layout_.block_header_size;
    }
    return 0;
  }

  // The first characters of a blob's name, which say what it is; 0 if it has none. A block that was allocated a moment
  // ago holds what others left there, so only texts of the JVM's library are names.
  [[nodiscard]] std::uint64_t name_of(std::uint64_t blob) const SIGNAL_SAFE {
    const auto name = load<std::uint64_t>(blob + layout_.blob_name);
    return name >= layout_.image_low && name < layout_.image_high ? load<std::uint64_t>(name) : 0;
  }
  // "nmethod" or "native nmethod", but not "native signature handlers".
  [[nodiscard]] bool is_nmethod(std::uint64_t blob) const SIGNAL_SAFE {
    const std::uint64_t name = name_of(blob);
    return name == text("nmethod") || name == text("native n");
  }
  // Of an nmethod: do frames of virtual threads end there? One that never waited returns to another place of it than
  // those that did.
  [[nodiscard]] bool is_continuation_entry(std::uint64_t nmethod) const SIGNAL_SAFE {
    const std::uint64_t pc = continuation_return();
    return pc != 0 && blob_of(pc) == nmethod;
  }
  // Of an nmethod: does it lead to a native method?
  [[nodiscard]] bool is_native(std::uint64_t nmethod) const SIGNAL_SAFE { return name_of(nmethod) == text("native n"); }
  // "DeoptimizationBlob" or "UncommonTrapBlob".
  [[nodiscard]] bool is_deoptimization(std::uint64_t blob) const SIGNAL_SAFE {
    const std::uint64_t name = name_of(blob);
    return name == text("Deoptimi") || name == text("Uncommon");
  }
  // "I2C/C2I adapters", between compiled and interpreted code.
  [[nodiscard]] bool is_adapter(std::uint64_t blob) const SIGNAL_SAFE { return name_of(blob) == text("I2C/C2I "); }
  // In memory that is there, whatever the blob says.
  [[nodiscard]] std::uint64_t code_begin(std::uint64_t blob) const SIGNAL_SAFE {
    const std::uint64_t begin = layout_.code_is_offset ? blob + load<std::uint32_t>(blob + layout_.blob_code)
                                                       : load<std::uint64_t>(blob + layout_.blob_code);
    return is_in_use(begin) ? begin : blob;
  }
  [[nodiscard]] std::int32_t frame_complete(std::uint64_t blob) const SIGNAL_SAFE {
    return layout_.frame_complete_is_short ? load<std::int16_t>(blob + layout_.blob_frame_complete)
                                           : load<std::int32_t>(blob + layout_.blob_frame_complete);
  }
  [[nodiscard]] CompiledCode code_of(std::uint64_t nmethod) const SIGNAL_SAFE {
    const std::uint64_t begin = code_begin(nmethod);
    return {.begin = reinterpret_cast<const std::uint8_t*>(begin),
            .size = static_cast<std::uint32_t>(nmethod + load<std::uint32_t>(nmethod + layout_.blob_size) - begin),
            .frame_complete = frame_complete(nmethod),
            .frame_words = frame_size(nmethod)};
  }
  // In words, with the return address; 0 for code that keeps no frame.
  [[nodiscard]] std::int32_t frame_size(std::uint64_t blob) const SIGNAL_SAFE {
    return load<std::int32_t>(blob + layout_.blob_frame_size);
  }
  [[nodiscard]] std::uint32_t compile_id(std::uint64_t nmethod) const SIGNAL_SAFE {
    return load<std::uint32_t>(nmethod + layout_.nmethod_compile_id);
  }
  // 0 if there still is the nmethod with this compile id. One that was freed leaves its id in memory, and code of
  // another may lie where its own was: free blocks are used from their end. But its block is no longer marked as used.
  [[nodiscard]] std::uint64_t difference_from(std::uint64_t nmethod, std::uint32_t compile_id) const SIGNAL_SAFE {
    const std::uint64_t block = nmethod - layout_.block_header_size;
    return (this->compile_id(nmethod) ^ compile_id) | (load<std::uint8_t>(block + layout_.block_used) ^ 1U);
  }
  [[nodiscard]] std::uint64_t method(std::uint64_t nmethod) const SIGNAL_SAFE {
    return load<std::uint64_t>(nmethod + layout_.nmethod_method);
  }
  // Where a frame returns to that will be deoptimized.
  [[nodiscard]] std::uint64_t deopt_handler(std::uint64_t nmethod) const SIGNAL_SAFE {
    return layout_.deopt_handler_is_offset ? nmethod + load<std::uint32_t>(nmethod + layout_.nmethod_deopt_handler)
                                           : load<std::uint64_t>(nmethod + layout_.nmethod_deopt_handler);
  }

 private:
  static constexpr std::uint32_t kMaxHeaps = 8;
  static constexpr std::uint64_t kFewBytes = 16;
  static constexpr std::uint8_t kFreeSegment = 0xff;
  // Eight characters, or seven with the NUL behind them, as a number.
  static constexpr std::uint64_t text(const char* characters) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8 && characters[i] != 0; ++i) {
      number |= std::uint64_t{static_cast<unsigned char>(characters[i])} << (8 * i);
    }
    return number;
  }

  struct Heap {
    std::uint64_t low;
    std::uint64_t high_at;  // grows
    std::uint64_t segments;
    std::uint32_t log2_segment;
  };
  Layout layout_{};
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::uint32_t count_ = 0;
  Heap heaps_[kMaxHeaps] = {};
};

}  // namespace sonde::agent::hotspot
