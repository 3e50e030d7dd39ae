// SPDX-License-Identifier: Apache-2.0
// A number for a context that depends on nothing but the names of its methods, so that the same context has the same
// number in every run and on every machine: the key by which two recordings are compared. Threads and call sites do not
// enter. The function is part of the file format's documentation (docs/reference/recording.md); it does not change.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace sonde::profile {

inline constexpr std::uint64_t kRootPathHash = 0x534f4e4445ULL;  // of depth-0 nodes

// Of a context whose caller has the hash `caller`; `full_name` as in Profile::full_name.
std::uint64_t path_hash(std::uint64_t caller, std::string_view full_name);

// The same for methods of a profile; each name is hashed once.
class PathHasher {
 public:
  explicit PathHasher(const Profile& profile);
  [[nodiscard]] std::uint64_t extended(std::uint64_t caller, MethodId method) const;

 private:
  std::vector<std::uint64_t> names_;  // by method
};

// By node.
std::vector<std::uint64_t> path_hashes(const Profile& profile);

}  // namespace sonde::profile
