// SPDX-License-Identifier: Apache-2.0
// The processed profile format of the Firefox Profiler, version 47: later viewers upgrade it. One metric; a sample per
// context with a value, weighted by it. Its time is its place in the order of names, for contexts have no time.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::firefox {

// False if the sink refused something.
bool write(const profile::Profile& profile, profile::Metric metric, const Sink& sink);

}  // namespace sonde::format::firefox
