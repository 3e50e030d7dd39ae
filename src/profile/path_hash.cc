// SPDX-License-Identifier: Apache-2.0
#include "profile/path_hash.h"

#include "base/mix.h"

namespace sonde::profile {
namespace {

// FNV-1a. Slow per byte, but each name is hashed once.
std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// Not symmetric in its arguments: a path is a sequence.
std::uint64_t extended(std::uint64_t caller, std::uint64_t name) {
  return mixed(caller * 0x9e3779b97f4a7c15ULL + name);
}

}  // namespace

std::uint64_t path_hash(std::uint64_t caller, std::string_view full_name) {
  return extended(caller, name_hash(full_name));
}

PathHasher::PathHasher(const Profile& profile) : names_(profile.methods.size()) {
  for (std::uint32_t i = 0; i < names_.size(); ++i) names_[i] = name_hash(profile.full_name(MethodId(i)));
}

std::uint64_t PathHasher::extended(std::uint64_t caller, MethodId method) const {
  return profile::extended(caller, names_[method.value()]);
}

std::vector<std::uint64_t> path_hashes(const Profile& profile) {
  const PathHasher hasher(profile);
  const CallTree& tree = profile.tree;
  std::vector<std::uint64_t> hashes(tree.size());
  std::vector<std::uint64_t> path;  // by depth
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const std::uint32_t depth = tree.depth[node];
    path.resize(depth);
    hashes[node] = depth == 0 ? kRootPathHash : hasher.extended(path.back(), tree.method[node]);
    path.push_back(hashes[node]);
  }
  return hashes;
}

}  // namespace sonde::profile
