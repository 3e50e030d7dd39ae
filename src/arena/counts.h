// SPDX-License-Identifier: Apache-2.0
// How counts that a Java thread may be writing are read; for the walks.
#pragma once

#include <cstdint>

#include "arena/reader.h"

namespace sonde::arena {

// Aligned words do not tear; acquire pairs with the release stores of SondeRT and of the agent.
template <typename T>
T acquire(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}
template <typename T>
T relaxed(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

inline std::uint64_t bytecodes_of(const MethodEntry* method, std::uint64_t calls, std::uint64_t stored) {
  if (method == nullptr || (method->flags & kSinglePath) == 0) return stored;
  // Corrections are negative; arithmetic modulo 2^64 does the right thing.
  return calls * method->constant_bytecodes + stored;
}

}  // namespace sonde::arena
