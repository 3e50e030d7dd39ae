// SPDX-License-Identifier: Apache-2.0
// The part of check() that is about the constant pool: what its entries say, given that they point at the right kinds.
#pragma once

#include "classfile/findings.h"

namespace sonde::classfile {

void check_pool(Findings& findings);

}  // namespace sonde::classfile
