// SPDX-License-Identifier: Apache-2.0
// Collapsed stacks, what flame graph tools read: `thread;frame;frame value`, the outermost frame first, self values.
// Frames have no descriptor, so overloads are summed. A `;` in a name, and a space in a frame, become `_`: both would
// end it too early.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::collapsed {

// False if the sink refused something.
bool write(const profile::Profile& profile, profile::Metric metric, const Sink& sink);

}  // namespace sonde::format::collapsed
