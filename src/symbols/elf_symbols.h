// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file by address (System V ABI, "Symbol Table"): .symtab where it was not stripped, .dynsym
// elsewhere. Bytes in, names out; the bytes may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::symbols {

class ElfSymbols {
 public:
  static Result<ElfSymbols> parse(Bytes file);

  // The function that an address of the file lies in, as C++ writes it; "" if there is none.
  [[nodiscard]] std::string name_of(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint64_t size;
    std::string name;  // as the linker knows it
  };
  std::vector<Function> functions_;  // by address
};

// "JavaCalls::call(JavaValue*, …)" without the parameters: "JavaCalls::call".
std::string readable(const std::string& linker_name);

}  // namespace sonde::symbols
