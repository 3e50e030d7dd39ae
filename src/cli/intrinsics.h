// SPDX-License-Identifier: Apache-2.0
// `sonde run --intrinsics=count`: a JVM that runs the bytecode of methods which its compilers would replace.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

// The options that make the JVM of this JDK do so. Which intrinsics it has is read from the JVM itself; those of native
// methods stay as they are, for there is no bytecode to run instead.
Result<std::vector<std::string>> options_without_intrinsics(const std::filesystem::path& java_home);

// The names in HotSpot's table, as the bytes of its library have it; none if it is not there.
std::vector<std::string> intrinsics_in(std::string_view library);

}  // namespace sonde::cli
