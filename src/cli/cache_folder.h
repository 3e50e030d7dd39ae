// SPDX-License-Identifier: Apache-2.0
// What is made once and used again, in $XDG_CACHE_HOME/sonde or ~/.cache/sonde: any file there may vanish at any time.
// Where nothing can be written, everything works and takes longer.
#pragma once

#include <filesystem>
#include <string>

#include "base/bytes.h"

namespace sonde::cli {

// Empty if the user has no home.
std::filesystem::path cache_folder();

// What is made from a file must be made again when this changes.
std::string state_of_file(const std::filesystem::path& path);

// Written under another name first: several processes may do so at once. Nothing happens in a folder that belongs to
// somebody else or lets others write.
void write_to_cache(const std::filesystem::path& path, Bytes bytes);

// Where instrumented classes of a JDK are kept (src/agent/session/class_cache.h); "": nowhere.
std::filesystem::path class_cache_file(const std::filesystem::path& java_home, const std::filesystem::path& agent);
// What an agent has left for the next recordings, if it has.
void keep_class_cache(const std::filesystem::path& made, const std::filesystem::path& path);

}  // namespace sonde::cli
