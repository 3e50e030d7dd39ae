// SPDX-License-Identifier: Apache-2.0
// Sizes that injected code has in its operands. They are those of arena/layout.h, which this folder does not see; the
// agent, which sees both, asserts it.
#pragma once

#include <cstddef>

namespace sonde::instrument {

inline constexpr std::size_t kNodeHeaderSize = 64;
inline constexpr std::size_t kCallSiteSize = 24;

}  // namespace sonde::instrument
