// SPDX-License-Identifier: Apache-2.0
// Context: written by [signal], read by [agent]. Names of methods, noted when a sample meets a method for the first
// time. A redefinition frees old versions of methods without telling anybody, and other methods get their addresses;
// compiled code may be freed before it is decoded, as JDK 17's sweeper does between collections. While a method is on
// the stack of the thread that is sampled it cannot be freed, so then is the time.
//
// A handler asks for the place of a method in the log. A table of known methods answers if what the method consists of
// is still what was noted; otherwise the names are copied. Memory that may be gone is read by process_vm_readv, where a
// wrong address is an error code. What was read so since the last garbage collection began is still there, and is
// looked at without a system call: nothing is unmapped before another collection begins (doubt()).
//
// Table entries are written and read without a lock: the first word is a sum over the others, so an entry that two
// threads wrote at once matches nothing. The log is only appended to while a recording runs; when it is full nothing is
// noted.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/vm/hotspot/layout.h"
#include "agent/vm/hotspot/method_identity.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

class MethodLog {
 public:
  MethodLog() = default;
  MethodLog(const MethodLog&) = delete;
  MethodLog& operator=(const MethodLog&) = delete;

  // [agent] Before the first handler runs; again when there is none, to begin anew. Memory stays as long as the
  // process.
  bool start(const Layout& layout);
  // [agent] A collection begins, after which classes may be gone.
  void doubt() { epoch_.fetch_add(1); }

  // [signal] The place of a method in the log, for a frame with this bytecode pointer (0: none); 0 if it is no method.
  std::uint64_t place_of(std::uint64_t method, std::uint64_t bcp) SIGNAL_SAFE;

  // [signal] A frame of compiled code: what is its method? Asked once; if the log is full, not again at every sample.
  void note_compilation(std::uint32_t compile_id, std::uint64_t method) SIGNAL_SAFE {
    std::atomic<std::uint64_t>& known = compilations_[compile_id % kCompilations];
    if (known.load(std::memory_order_relaxed) >> 32 == compile_id) return;
    known.store(std::uint64_t{compile_id} << 32 | place_of(method, 0), std::memory_order_release);
  }
  // [agent] Its place; 0 if it was not noted, or too many were since.
  [[nodiscard]] std::uint64_t place_of_compilation(std::uint32_t compile_id) const {
    const std::uint64_t known = compilations_[compile_id % kCompilations].load(std::memory_order_acquire);
    return known >> 32 == compile_id ? known & 0xffffffff : 0;
  }

  // [agent] What was noted at a place that a sample has.
  struct Method {
    MethodIdentity identity;
    std::uint64_t code;  // address of the first bytecode
    std::uint16_t code_size;
    bool has_lines;
    std::uint16_t access_flags;
    std::string_view class_name;
    std::string_view name;
    std::string_view descriptor;
    std::string_view source_file;
  };
  [[nodiscard]] std::optional<Method> at(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t memory_bytes() const { return sizeof *this + std::min(end_.load(), kSize); }

 private:
  static constexpr std::uint64_t kSize = 16 << 20;
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kCompilations = 16384;
  static constexpr std::size_t kTexts = 4;  // class, name, descriptor, source file
  static constexpr std::uint64_t kMaxText = 4096;

  static constexpr std::size_t kWords = sizeof(MethodIdentity) / sizeof(std::uint64_t);
  struct Known {
    MethodIdentity identity;
    std::uint64_t place;
    std::uint64_t epoch;
  };
  struct alignas(128) Entry {
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> words[kWords + 2] = {};
  };
  struct Record {
    MethodIdentity identity;
    std::uint16_t code_size;
    std::uint16_t access_flags;
    std::uint16_t lengths[kTexts];  // of the texts that follow
    std::uint32_t has_lines;
  };
  struct Sighting;

  [[nodiscard]] Known find(std::uint64_t method) const SIGNAL_SAFE;
  void remember(const Known& known) SIGNAL_SAFE;
  [[nodiscard]] bool is_same(const MethodIdentity& identity) const SIGNAL_SAFE;
  bool look_at(std::uint64_t method, std::uint64_t bcp, Sighting& sighting) const SIGNAL_SAFE;
  std::uint64_t append(const Sighting& sighting) SIGNAL_SAFE;

  Layout layout_{};
  pid_t self_ = 0;
  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint64_t> end_{0};
  std::atomic<std::uint64_t> epoch_{1};
  Entry entries_[kEntries];
  std::atomic<std::uint64_t> compilations_[kCompilations] = {};  // compile id, place
};

}  // namespace sonde::agent::hotspot
