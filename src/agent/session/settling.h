// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one call at a time. When a program is as fast again as it was. Changing a class threw compiled code
// away, on JDK 17 all there is if it is the first change after attach; until the JVM's compilers rest, which they never
// do entirely, the program is slower. They are looked at in periods of the same length.
#pragma once

#include <cstdint>

namespace sonde::agent {

class Settling {
 public:
  static constexpr std::uint64_t kLeast = 3;  // periods
  static constexpr std::uint64_t kRestIsLessThan =
      5;  // compilers rest: they worked for less than this part of a period

  // `most_ns`: how much longer than the least it may take.
  Settling(std::uint64_t period_ns, std::uint64_t most_ns) : period_ns_(period_ns), most_ns_(most_ns) {}

  [[nodiscard]] std::uint64_t period_ns() const { return period_ns_; }

  // A period is over. `compiled_ns`: for how long the JVM's compilers have worked so far; 0 always if it does not tell.
  bool has_settled(std::uint64_t compiled_ns) {
    const bool has_rested = compiled_ns - compiled_ns_ < period_ns_ / kRestIsLessThan;
    compiled_ns_ = compiled_ns;
    if (++periods_ < kLeast) return false;
    return has_rested || (periods_ - kLeast) * period_ns_ >= most_ns_;
  }

 private:
  std::uint64_t period_ns_;
  std::uint64_t most_ns_;
  std::uint64_t periods_ = 0;
  std::uint64_t compiled_ns_ = 0;
};

}  // namespace sonde::agent
