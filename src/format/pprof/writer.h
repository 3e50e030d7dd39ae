// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto, compressed with gzip. Each metric is a sample type, each context with a value a sample, the
// thread a label of it. The line of a frame is that of the call to the next one; the innermost frame has none.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::pprof {

// False if the sink refused something.
bool write(const profile::Profile& profile, const Sink& sink);

}  // namespace sonde::format::pprof
