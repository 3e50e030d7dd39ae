// SPDX-License-Identifier: Apache-2.0
// The rules of the format that parsing does not need and therefore does not ask for (JVMS 4.8, 4.9.1): names and
// descriptors, which methods have code, operands, the tables that belong to code, the length of every known attribute.
// What takes data-flow analysis (4.10) is the verifier's business.
//
// The rules were tried on every class of JDK 17 and 25 and on the jars of a Linux distribution. Where real classes that
// HotSpot loads are looser than the text of the specification, the rule follows HotSpot and says so.
#pragma once

#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"

namespace sonde::classfile {

// All findings, in the order of the file; empty if there are none.
std::vector<Error> check(const ClassFile& cls);

}  // namespace sonde::classfile
