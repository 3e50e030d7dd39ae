// SPDX-License-Identifier: Apache-2.0
// Where things are that commands need: java, its JDK, and what was installed together with this program.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace sonde::cli {

// The file that running `name` would execute.
Result<std::filesystem::path> find_executable(const std::string& name);
// The JDK that an executable named `java` belongs to; an error if it is too old.
Result<std::filesystem::path> java_home_of(const std::filesystem::path& java);
// libsonde.so.
Result<std::filesystem::path> find_agent();
// A file that is installed next to it.
Result<std::filesystem::path> find_beside_agent(const std::string& name);

}  // namespace sonde::cli
