// SPDX-License-Identifier: Apache-2.0
// From an arena to a Profile. Damage does not stop it: what made sense is in the profile, the rest is counted in
// Recording::damage_count.
#pragma once

#include <string>
#include <vector>

#include "arena/reader.h"
#include "profile/profile.h"

namespace sonde::profile {

// "exact", "cpu": what was on, if only for a while.
std::vector<std::string> modes_of(const arena::Summary& summary);

Result<Profile> ingest(const arena::Reader& reader);

}  // namespace sonde::profile
