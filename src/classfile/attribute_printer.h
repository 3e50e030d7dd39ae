// SPDX-License-Identifier: Apache-2.0
// Prints attributes: those of attributes.def item by item, annotations as in source, others by name
// and length.
#pragma once

#include "classfile/attribute_layout.h"
#include "classfile/class_file.h"
#include "classfile/listing.h"

namespace sonde::classfile {

// "<malformed: reason>"
void print_malformed(Listing& out, const Error& error);

// Leaves the last line open.
void print_attribute(Listing& out, const ConstantPool& pool, const Attribute& attribute, AttributeOwner owner,
                     std::size_t indent);

}  // namespace sonde::classfile
