// SPDX-License-Identifier: Apache-2.0
// Does with some bytes everything the library can do with a class, and checks what must hold whatever they are:
// an error that says where, or a model that survives all passes and is a class again afterwards.
#pragma once

#include <string>

#include "base/bytes.h"

namespace sonde::torture {

// Empty if all is well, else what went wrong. Damaged input is no failure.
std::string exercise(Bytes bytes);

}  // namespace sonde::torture
