// SPDX-License-Identifier: Apache-2.0
// A profile without what is known to vary.
#pragma once

#include <span>

#include "gate/limits.h"
#include "profile/profile.h"

namespace sonde::gate {

// Without the threads that match, and without the contexts of methods that match and everything below them.
profile::Profile without(const profile::Profile& profile, std::span<const Allowed> allowed);

}  // namespace sonde::gate
