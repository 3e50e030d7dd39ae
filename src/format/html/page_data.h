// SPDX-License-Identifier: Apache-2.0
// What the page shows, as bytes (ui/README.md describes them): a JSON object with everything small, then columns of
// LEB128 numbers with everything large. Threads of one name and call sites are summed; callees come in the order in
// which the recording has them.
#pragma once

#include <string>

#include "profile/profile.h"

namespace sonde::format::html {

// `other` may be null; if not, every context has the values of both.
std::string page_data(const profile::Profile& profile, const profile::Profile* other);

}  // namespace sonde::format::html
