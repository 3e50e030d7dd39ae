// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What must be known of a method while the program runs, by its number: written before the method can
// run, read by SondeRT (where contexts overflow) and by those who move counts. Address space for all numbers is taken
// at once, memory only as far as it is used.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sonde::agent {

class MethodTable {
 public:
  static constexpr std::uint32_t kMethods = 1U << 25;  // SondeRT has the same number

  Result<void> map();
  // For a table that no code in the JVM looks into.
  void unmap();

  void set(std::uint32_t method_id, std::uint32_t constant_bytecodes, bool has_no_node) {
    if (method_id < kMethods) words_[method_id] = constant_bytecodes | kKnown | (has_no_node ? kNoNode : 0);
  }
  // True if callers keep its counts in their CallSite.
  [[nodiscard]] bool has_no_node(std::uint32_t method_id) const {
    return method_id < kMethods && (words_[method_id] & kNoNode) != 0;
  }
  // All numbers up to this one are unknown again, and their memory is given back.
  void forget(std::uint32_t largest);
  [[nodiscard]] bool is_mapped() const { return words_ != nullptr; }
  [[nodiscard]] const void* memory() const { return words_; }

 private:
  // SondeRT has the same numbers.
  static constexpr std::uint32_t kNoNode = 1U << 31;
  static constexpr std::uint32_t kKnown = 1U << 30;  // it is in this recording

  std::uint32_t* words_ = nullptr;
};

}  // namespace sonde::agent
