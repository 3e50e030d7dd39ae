// SPDX-License-Identifier: Apache-2.0
// What `sonde status` tells of a recording, be it named by its file or by the process that is recorded.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profile/profile.h"

namespace sonde::cli {

std::string status_text(const profile::Profile& profile);
nlohmann::ordered_json status_json(const profile::Profile& profile);

}  // namespace sonde::cli
