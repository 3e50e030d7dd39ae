// SPDX-License-Identifier: Apache-2.0
// speedscope's own JSON: a profile for every thread and metric. They are of the kind "evented", where a frame opens and
// closes: a stack is not repeated for each of its contexts, so deep trees stay small. The axis is not time but the
// metric, and callees come in the order of their names.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::speedscope {

// False if the sink refused something.
bool write(const profile::Profile& profile, const Sink& sink);

}  // namespace sonde::format::speedscope
