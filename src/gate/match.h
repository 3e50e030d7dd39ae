// SPDX-License-Identifier: Apache-2.0
// Names and paths of methods against the patterns of limits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"

namespace sonde::gate {

// `full_name` is "java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object;"; patterns as those of --include.
bool name_matches(std::string_view pattern, std::string_view full_name);

// The last pattern is that of the last frame; the others match frames before it, in their order, with any frames
// between.
bool path_matches(std::span<const std::string> patterns, std::span<const std::string_view> frames);

// "java.util.Map.get": for people.
std::string display_name(std::string_view full_name);

// Methods that are known by their full names only.
class NamedMethods {
 public:
  profile::MethodId method_of(const std::string& name, profile::Profile& profile);

 private:
  std::unordered_map<std::string, profile::MethodId> ids_;
};

}  // namespace sonde::gate
