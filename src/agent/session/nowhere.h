// SPDX-License-Identifier: Apache-2.0
// The memory at the low end of the address range that SondeRT uses (see there): addresses are real addresses minus
// kBias, so that the zero of a new thread is valid memory. Nothing that is counted there is ever read.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sonde::agent {

inline constexpr std::uint64_t kBias = 0x70000000;
inline constexpr std::uint64_t kSink = 0x200000;
inline constexpr std::uint64_t kNowhereSize = 0x400000;

Result<void> map_nowhere();

}  // namespace sonde::agent
