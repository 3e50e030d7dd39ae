// SPDX-License-Identifier: Apache-2.0
// A finished file as a Profile; store::open decides what a path is.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "profile/profile.h"

namespace sonde::store {

Result<profile::Profile> read_file(const std::filesystem::path& path);

}  // namespace sonde::store
