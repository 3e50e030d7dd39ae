// SPDX-License-Identifier: Apache-2.0
// The part of check() that is about attributes of attributes.def: their length, and the kinds of what they point at.
#pragma once

#include "classfile/attribute_layout.h"
#include "classfile/code.h"
#include "classfile/findings.h"

namespace sonde::classfile {

// `code` is given for the attributes of a Code attribute, whose pcs and slots must lie in it.
void check_attributes(const AttributeList& list, AttributeOwner owner, Findings& findings, const Code* code = nullptr);

// How many rows BootstrapMethods has; 0 without one.
std::uint16_t bootstrap_method_count(const ClassFile& cls);

}  // namespace sonde::classfile
