// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Methods by the address of HotSpot's Method. What is known of a method is read
// once, while its class is alive; afterwards its address is enough. When classes are unloaded, addresses may come to
// mean something else, so each is looked at again before it is believed.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "agent/session/sampled_methods.h"
#include "agent/vm/hotspot/layout.h"
#include "agent/vm/hotspot/method_log.h"

namespace sonde::agent::hotspot {

class MethodTable {
 public:
  MethodTable(const Layout& layout, const MethodLog& log, SampledMethods& methods)
      : layout_(layout), log_(log), methods_(methods) {}

  struct Line {
    std::uint16_t bci;
    std::uint16_t line;
  };
  struct Entry {
    std::uint32_t id = 0;    // 0: there is no method at this address
    std::uint64_t code = 0;  // address of the first bytecode
    std::uint32_t code_size = 0;
    std::vector<Line> lines;  // by bci

    [[nodiscard]] std::uint16_t line_of(std::int32_t bci) const;
    // -1 if it is none of this method's.
    [[nodiscard]] std::int32_t bci_of(std::uint64_t bcp) const {
      return bcp >= code && bcp < code + code_size ? static_cast<std::int32_t>(bcp - code) : -1;
    }
  };
  const Entry& find(std::uint64_t method);
  // Of a method that a handler noted; its line numbers are known if it is still there.
  const Entry& logged(std::uint64_t place);

  // Classes were unloaded or changed.
  void doubt() { ++epoch_; }

  [[nodiscard]] std::uint64_t memory_bytes() const { return entries_.size() * 192 + logged_.size() * 160; }

 private:
  struct Known {
    Entry entry;
    MethodIdentity identity{};
    std::uint32_t epoch = 0;
  };
  struct Sighting;
  bool look_at(std::uint64_t method, Sighting& sighting) const;
  Known read(const Sighting& sighting) const;
  [[nodiscard]] std::vector<Line> read_lines(std::uint64_t const_method, std::uint16_t code_size) const;

  const Layout layout_;
  const MethodLog& log_;
  SampledMethods& methods_;
  const pid_t self_ = getpid();
  std::unordered_map<std::uint64_t, Known> entries_;
  std::unordered_map<std::uint64_t, Entry> logged_;  // by place in the log
  std::uint32_t epoch_ = 0;
};

}  // namespace sonde::agent::hotspot
