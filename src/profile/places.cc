// SPDX-License-Identifier: Apache-2.0
#include "profile/places.h"

namespace sonde::profile {

std::string place_name(const Profile& profile, const SumRow& row) {
  const std::string& file = profile.class_of(row.caller).source_file;
  const std::string number = row.line == 0 ? "?" : std::to_string(row.line);
  return profile.display_name(row.caller) + " (" + (file.empty() ? "unknown source" : file) + ":" + number + ")";
}

}  // namespace sonde::profile
