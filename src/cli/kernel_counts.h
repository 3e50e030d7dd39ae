// SPDX-License-Identifier: Apache-2.0
// How many bytecodes of each group one iteration of a kernel executes (java/calibrate), read from its class files. A
// kernel has one loop, one way through its body, and calls only methods with a single path.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "classfile/opcode_weights.h"

namespace sonde::cli {

using GroupCounts = std::array<double, classfile::kOpcodeGroups>;

// By the name of the method.
Result<std::map<std::string, GroupCounts>> count_kernels(const std::filesystem::path& jar);

}  // namespace sonde::cli
