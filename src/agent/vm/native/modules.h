// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. The libraries of this process, as /proc/self/maps and their own headers in
// memory describe them. The dynamic linker is not asked: whoever loads a library holds its lock, perhaps while the JVM
// waits for us at a safepoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::agent::native {

struct Module {
  std::string path;         // "/usr/lib/jvm/…/libjvm.so", "[vdso]"
  std::uint64_t begin = 0;  // of its code
  std::uint64_t end = 0;
  std::uint64_t bias = 0;          // address - bias = address in the file
  std::uint64_t unwind_table = 0;  // address of .eh_frame_hdr; 0 if it has none
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

class Modules {
 public:
  // Null if the address is in no library. Libraries that were loaded since are found at the latest 50 ms after.
  const Module* find(std::uint64_t pc, std::uint64_t now_ns);

  // The mapping that an address lies in; 0, 0 if there is none.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  static Range mapping_of(std::uint64_t address);

  [[nodiscard]] std::uint64_t memory_bytes() const { return modules_.size() * 256; }

 private:
  void read();

  std::vector<Module> modules_;  // by address
  std::uint64_t read_at_ns_ = 0;
};

}  // namespace sonde::agent::native
