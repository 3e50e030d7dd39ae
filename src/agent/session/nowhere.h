// SPDX-License-Identifier: Apache-2.0
// The memory at the low end of the address range that SondeRT uses (see there): addresses are real addresses minus
// kBias, so that the zero of a new thread is valid memory. Nothing that is counted there is ever read.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sonde::agent {

inline constexpr std::uint64_t kBias = 0x70000000;
inline constexpr std::uint64_t kBiasStep = 16 << 20;  // from it to what may take its place
inline constexpr std::uint64_t kSink = 0x200000;
inline constexpr std::uint64_t kNowhereSize = 0x400000;

// While the JVM starts, when nobody has taken the place yet.
Result<void> map_nowhere();
// In a JVM that runs, where somebody may have: at kBias or elsewhere. Returns what takes the place of kBias, the same
// each time.
Result<std::uint64_t> map_nowhere_somewhere();

}  // namespace sonde::agent
