// SPDX-License-Identifier: Apache-2.0
// A Java Flight Recording, version 2.1. Every context is an event sonde.Context with all its values. For tools that
// know jdk.ExecutionSample only, such events are there as well, in proportion to the metric that says most: at most
// kMaxSamples of them, at times spread evenly over the recording, for contexts have none.
#pragma once

#include <cstdint>

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::jfr {

inline constexpr std::uint64_t kMaxSamples = 10'000;

// False if the sink refused something.
bool write(const profile::Profile& profile, const Sink& sink);

}  // namespace sonde::format::jfr
