// SPDX-License-Identifier: Apache-2.0
// 64 bits stirred: every bit of the input reaches every bit of the output (the finaliser of SplitMix64).
#pragma once

#include <cstdint>

namespace sonde {

constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

}  // namespace sonde
