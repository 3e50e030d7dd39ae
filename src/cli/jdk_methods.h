// SPDX-License-Identifier: Apache-2.0
// Which methods of a JDK are native or replaced by the JIT compiler (instrument::KnownMethods), read from its
// lib/modules and kept in the user's cache folder, since it takes a tenth of a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

// In the form the agent reads.
// `without_intrinsics`: for a JVM whose intrinsics are switched off, as far as they can be.
Result<std::vector<std::uint8_t>> methods_counted_by_callers(const std::filesystem::path& java_home,
                                                             bool without_intrinsics);

}  // namespace sonde::cli
