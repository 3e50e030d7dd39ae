// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. What HotSpot has counted of a method's calls for its own compiler, while the
// method was interpreted or compiled by C1 (MethodData, methodData.hpp): which of them have run, and on objects of
// which classes. It may be old, and of calls by others, or not there at all: good for a guess at what a method will
// call, and for nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/vm/hotspot/layout.h"
#include "agent/vm/hotspot/vm_structs.h"
#include "base/bytes.h"
#include "base/result.h"
#include "classfile/names.h"

namespace sonde::agent::hotspot {

struct ProfiledCall {
  struct Receiver {
    std::uint64_t cls;  // the address of its class
    std::uint64_t count;
  };
  classfile::Pc pc;
  std::uint64_t count;
  std::vector<Receiver> receivers;  // none where the JVM does not tell them apart
};

// Cells of a receiver's row come after one cell, or after two in builds with JVMCI up to some version.
enum class CellsBeforeReceivers : std::uint8_t { kOne = 1, kTwo = 2 };

// The calls of `code` that have run, by the data that the JVM keeps for it, one entry after the other. Nothing if the
// two do not belong together: entries come in the order of the instructions, and each kind of instruction has its own.
std::optional<std::vector<ProfiledCall>> profiled_calls(Bytes data, Bytes code, CellsBeforeReceivers cells);

class CallProfiles {
 public:
  static Result<CallProfiles> find(const VmStructs& structs);

  // `method`: what a jmethodID is. `code`: its bytecodes, as JVMTI shows them.
  std::vector<ProfiledCall> calls_of(std::uint64_t method, Bytes code);
  // With slashes; empty if it is not there any more.
  [[nodiscard]] std::string class_name(std::uint64_t receiver) const;

 private:
  explicit CallProfiles(const Layout& layout) : layout_(layout) {}

  [[nodiscard]] std::vector<std::uint8_t> data_of(std::uint64_t method, std::size_t code_size) const;

  Layout layout_;
  std::uint32_t method_data_ = 0;
  std::uint32_t data_size_ = 0;
  std::uint32_t data_entries_ = 0;
  std::optional<CellsBeforeReceivers> cells_;  // once a method has told
};

}  // namespace sonde::agent::hotspot
