// SPDX-License-Identifier: Apache-2.0
// The part of check() that is about one method's code: operands, StackMapTable, the debugging tables.
#pragma once

#include "classfile/code.h"
#include "classfile/findings.h"

namespace sonde::classfile {

void check_code(const Code& code, Findings& findings);

}  // namespace sonde::classfile
