// SPDX-License-Identifier: Apache-2.0
// Prints a Code attribute: its sizes, instructions, exception table and the tables that belong to it.
#pragma once

#include "classfile/code.h"
#include "classfile/listing.h"

namespace sonde::classfile {

// With `tables`, everything; without, instructions and exception table only.
void print_code(Listing& out, const Code& code, std::size_t indent, bool tables);

}  // namespace sonde::classfile
