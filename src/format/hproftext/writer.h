// SPDX-License-Identifier: Apache-2.0
// The text that the HPROF agent wrote: threads, stack traces, and a ranked list of the traces in which something
// happened. A trace has the innermost frames only, four unless told otherwise; contexts that agree in them are summed.
#pragma once

#include <cstdint>

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::hproftext {

inline constexpr std::uint32_t kDefaultDepth = 4;  // the agent's own

// False if the sink refused something.
bool write(const profile::Profile& profile, profile::Metric metric, std::uint32_t depth, const Sink& sink);

}  // namespace sonde::format::hproftext
