// SPDX-License-Identifier: Apache-2.0
// Calls that run code of the JDK and nothing else, whatever the program is: those of classes that nobody can extend,
// with arguments that have no code of the program. Where the JDK itself is left alone, such a call leads to nothing
// that is instrumented, so that nobody has to know where it came from.
#pragma once

#include "classfile/constant_pool.h"

namespace sonde::instrument {

bool stays_in_jdk(const classfile::MemberRef& callee);

}  // namespace sonde::instrument
