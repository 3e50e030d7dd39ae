// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180): one row per method, with self and total of every metric.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::csv {

// False if the sink refused something.
bool write(const profile::Profile& profile, const Sink& sink);

}  // namespace sonde::format::csv
