// SPDX-License-Identifier: Apache-2.0
// `sonde run --follow`: JVMs that the recorded program starts have recordings of their own, NAME.PID.sonde.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/console.h"

namespace sonde::cli {

// What JAVA_TOOL_OPTIONS must have in the environment of those JVMs. `live` is the folder of the program itself.
Result<std::string> options_for_children(const std::filesystem::path& agent, const std::filesystem::path& live,
                                         const std::string& stack_option);

// NAME of a recording NAME.sonde, with its folder: what names of the children's recordings begin with.
std::filesystem::path name_for_children(const std::filesystem::path& out);

// Turns what children that have ended left behind into recordings.
void finish_children(const std::filesystem::path& out, const Console& console);

}  // namespace sonde::cli
