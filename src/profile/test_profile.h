// SPDX-License-Identifier: Apache-2.0
// Profiles for tests: from the drawings of arena/test_arena.h, and back to the same notation.
#pragma once

#include <string>
#include <string_view>

#include "arena/test_arena.h"
#include "profile/ingest.h"

namespace sonde::profile {

inline Profile drawn_profile(std::string_view drawing) {
  const arena::TestArena arena(drawing);
  const auto reader = arena::Reader::over(arena.bytes());
  SONDE_CHECK(reader.ok());
  Result<Profile> profile = ingest(*reader);
  SONDE_CHECK(profile.ok());
  return std::move(profile).value();
}

// "thread main\n  App.main()V 1 20\n    App.get()I 3 9 @12\n": kinds of methods are not shown.
inline std::string text_of(const Profile& profile) {
  std::string text;
  const CallTree& tree = profile.tree;
  for (const Thread& thread : profile.threads) {
    text += "thread " + thread.display_name() + "\n";
    for (std::uint32_t node = thread.first_node + 1; node < thread.end_node; ++node) {
      text += std::string(2 * tree.depth[node], ' ') + profile.full_name(tree.method[node]) + " " +
              std::to_string(tree.value(Metric::kCalls, node)) + " " +
              std::to_string(tree.value(Metric::kBytecodes, node));
      if (tree.line[node] != 0) text += " @" + std::to_string(tree.line[node]);
      text += "\n";
    }
  }
  return text;
}

}  // namespace sonde::profile
