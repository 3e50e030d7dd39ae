// SPDX-License-Identifier: Apache-2.0
// Names of lines and call sites. There may be a million of them, so only those that are shown get one.
#pragma once

#include <string>

#include "profile/sums.h"

namespace sonde::profile {

// "a.B.c (B.java:17)" of a row by line or call site.
std::string place_name(const Profile& profile, const SumRow& row);

}  // namespace sonde::profile
