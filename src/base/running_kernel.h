// SPDX-License-Identifier: Apache-2.0
// The kernel that runs, as the agent notes it where an address is the kernel's, and as the host finds it again: it has
// other addresses each time it starts.
#pragma once

#include <string>

namespace sonde {

// "[kernel 8c1f…]", with the id of this start.
std::string running_kernel();

}  // namespace sonde
