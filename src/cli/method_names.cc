// SPDX-License-Identifier: Apache-2.0
#include "cli/method_names.h"

namespace sonde::cli {

using profile::MethodId;
using profile::Profile;

MethodNames::MethodNames(const std::vector<const Profile*>& profiles) {
  for (const Profile* profile : profiles) {
    for (std::uint32_t i = 0; i < profile->methods.size(); ++i) {
      const std::string& descriptor = profile->methods[i].descriptor;
      const auto [it, is_new] = uses_.try_emplace(profile->display_name(MethodId(i)), Use{.descriptor = descriptor});
      if (!is_new && it->second.descriptor != descriptor) it->second.is_ambiguous = true;
    }
  }
}

std::string MethodNames::operator()(const Profile& profile, MethodId id) const {
  const profile::Method& method = profile.method(id);
  std::string name = profile.display_name(id);
  if (uses_.at(name).is_ambiguous) name += profile::parameter_list(method.descriptor);
  if (method.kind == profile::MethodKind::kNative) name += " [native]";
  if (method.kind == profile::MethodKind::kIntrinsic) name += " [intrinsic]";
  return name;
}

std::vector<std::string> MethodNames::all(const Profile& profile) const {
  std::vector<std::string> names;
  names.reserve(profile.methods.size());
  for (std::uint32_t i = 0; i < profile.methods.size(); ++i) names.push_back((*this)(profile, MethodId(i)));
  return names;
}

}  // namespace sonde::cli
