// SPDX-License-Identifier: Apache-2.0
// One self-contained page: the browser view (ui/) with a recording in it, or two to compare.
#pragma once

#include "format/sink.h"
#include "profile/profile.h"

namespace sonde::format::html {

// False if this Sonde was built without the browser view.
bool is_available();

// `other` may be null. False if the sink refused something, or the view is not there.
bool write(const profile::Profile& profile, const profile::Profile* other, const Sink& sink);

}  // namespace sonde::format::html
