// SPDX-License-Identifier: Apache-2.0
// Decompression (RFC 1952) of a file that may be hostile: no memory is taken before its size is
// known, and none if that is above a limit.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::format {

inline constexpr std::uint64_t kMaxInflated = std::uint64_t{1} << 30;

bool is_gzip(Bytes bytes);
Result<std::vector<std::uint8_t>> gunzip(Bytes compressed, std::uint64_t limit = kMaxInflated);

}  // namespace sonde::format
