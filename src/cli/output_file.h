// SPDX-License-Identifier: Apache-2.0
// Data that goes to a file or to stdout.
#pragma once

#include <string>
#include <string_view>

#include "cli/console.h"

namespace sonde::cli {

// To stdout if `path` is "". False, after a message, if it did not arrive. The file may be read by others: what is
// written here is meant for repositories and reports.
[[nodiscard]] bool write_output(const std::string& path, std::string_view text, const Console& console);

}  // namespace sonde::cli
