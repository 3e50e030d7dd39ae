// SPDX-License-Identifier: Apache-2.0
// HotSpot's attach mechanism, as its own tools use it: a file and a signal make the JVM listen on a socket, which takes
// commands of NUL-terminated strings.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/jvms.h"

namespace sonde::cli {

// Loads an agent library, whose path is as the JVM sees it, and calls its Agent_OnAttach.
Result<void> load_agent(const RunningJvm& jvm, const std::string& library, const std::string& options);

}  // namespace sonde::cli
