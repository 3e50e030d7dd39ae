// SPDX-License-Identifier: Apache-2.0
// The version that `sonde --version` prints; CMakeLists.txt (project) has the same one.
#pragma once

namespace sonde::cli {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace sonde::cli
