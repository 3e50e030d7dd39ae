// SPDX-License-Identifier: Apache-2.0
// Which build of this library it is: what the linker made of its contents. Two that differ anywhere have different
// ones.
#pragma once

#include "base/bytes.h"

namespace sonde::agent {

// Empty if the linker left none.
Bytes own_build_id();

}  // namespace sonde::agent
