// SPDX-License-Identifier: Apache-2.0
#include "gate/match.h"

#include "base/method_filter.h"

namespace sonde::gate {
namespace {

struct Parts {
  std::string_view class_name;
  std::string_view method_name;
};

Parts parts_of(std::string_view full_name) {
  const std::string_view without_descriptor = full_name.substr(0, full_name.find('('));
  const std::size_t dot = without_descriptor.rfind('.');
  if (dot == std::string_view::npos) return {"", without_descriptor};
  return {without_descriptor.substr(0, dot), without_descriptor.substr(dot + 1)};
}

}  // namespace

bool name_matches(std::string_view pattern, std::string_view full_name) {
  const Parts parts = parts_of(full_name);
  return method_matches(pattern, parts.class_name, parts.method_name);
}

bool path_matches(std::span<const std::string> patterns, std::span<const std::string_view> frames) {
  if (patterns.empty() || frames.empty() || !name_matches(patterns.back(), frames.back())) return false;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < frames.size() && next + 1 < patterns.size(); ++i) {
    if (name_matches(patterns[next], frames[i])) ++next;
  }
  return next + 1 == patterns.size();
}

std::string display_name(std::string_view full_name) {
  const Parts parts = parts_of(full_name);
  if (parts.class_name.empty()) return std::string(parts.method_name);
  return profile::with_dots(parts.class_name) + "." + std::string(parts.method_name);
}

profile::MethodId NamedMethods::method_of(const std::string& name, profile::Profile& profile) {
  const auto next = profile::MethodId(static_cast<std::uint32_t>(profile.methods.size()));
  const auto [it, is_new] = ids_.try_emplace(name, next);
  if (is_new) profile.methods.push_back({.cls = profile::ClassId(0), .name = name, .descriptor = ""});
  return it->second;
}

}  // namespace sonde::gate
