// SPDX-License-Identifier: Apache-2.0
// The functions of the kernel that runs, as it lists them itself (/proc/kallsyms): lines of an address, a letter and a
// name, then the module in brackets. Text in, names out; the text may be anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::symbols {

class KernelSymbols {
 public:
  static KernelSymbols parse(std::string text);

  // The function that an address lies in: the last one that begins before it; "" if there is none.
  [[nodiscard]] std::string_view name_of(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint32_t name;  // place in text_
    std::uint32_t length;
  };
  std::string text_;
  std::vector<Function> functions_;  // by address
};

}  // namespace sonde::symbols
