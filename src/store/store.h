// SPDX-License-Identifier: Apache-2.0
// Recordings on disk. While a JVM is recorded: a folder NAME.sonde.live with the file `arena` in it. Afterwards: one
// file NAME.sonde, an SQLite database (docs/reference/recording.md). Every reader takes both.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "profile/profile.h"

namespace sonde::store {

inline constexpr const char* kArenaFile = "arena";  // in a live folder

// A finished file, a live folder (also one that a crash left behind), or an arena by itself.
Result<profile::Profile> open(const std::filesystem::path& path);

// Writes NAME.sonde, readable by its owner only. It appears under its name when it is complete and not before; what was
// there under that name is replaced.
Result<void> write(const profile::Profile& profile, const std::filesystem::path& out_file);

struct Finished {
  std::uint64_t nodes;
  std::uint64_t file_bytes;
  std::uint64_t damage_count;  // places in the arena that were left out
  profile::State state;        // kRunning: the JVM did not end in good order, or has not ended
};
// Turns a live folder into a file. The folder stays as it is: remove_live() takes it away.
Result<Finished> finish(const std::filesystem::path& live_folder, const std::filesystem::path& out_file);

// Removes the arena and, if nothing else is in it, the folder.
Result<void> remove_live(const std::filesystem::path& live_folder);

}  // namespace sonde::store
