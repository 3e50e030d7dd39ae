// SPDX-License-Identifier: Apache-2.0
// Decompression with a known size, and the size that nothing read from a container may exceed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::archive {

// A class file is at most some MiB; resources in jars have been met up to a few hundred.
inline constexpr std::uint64_t kDefaultMaxEntrySize = std::uint64_t{1} << 30;

enum class DeflateFormat : std::uint8_t { kRaw, kZlib };  // RFC 1951 (zip), RFC 1950 (jimage)

// Inflates `compressed` to exactly `size` bytes, or fails; byte offsets in errors count from the start of `compressed`.
// The result lives in `scratch`, which only ever grows and does so as data arrives: `size` comes from the same
// untrusted file, so it bounds the memory (callers check it against their limit) but does not by itself claim any.
Result<Bytes> inflate_exactly(Bytes compressed, DeflateFormat format, std::uint64_t size,
                              std::vector<std::uint8_t>& scratch);

}  // namespace sonde::archive
