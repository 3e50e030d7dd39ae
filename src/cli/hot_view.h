// SPDX-License-Identifier: Apache-2.0
// The hottest methods and calls of a recording that goes on, from the tables its agent keeps sorted (arena::HotTable):
// no call tree is walked, so it takes as long for a large recording as for a small one.
#pragma once

#include <string>

#include "arena/reader.h"
#include "cli/console.h"

namespace sonde::cli {

// As many lines as `height`, none wider than the console.
std::string hot_screen(const arena::Reader& reader, arena::SampleTreeKind kind, const Console& console,
                       std::size_t height);

}  // namespace sonde::cli
