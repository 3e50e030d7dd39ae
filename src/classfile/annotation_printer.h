// SPDX-License-Identifier: Apache-2.0
// Prints annotations as Java source has them: @java.lang.Deprecated(since="9", forRemoval=true). Their values nest, so
// they are not in attributes.def (JVMS 4.7.16).
#pragma once

#include <optional>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/listing.h"

namespace sonde::classfile {

// Nothing if the attribute is none of Runtime(In)Visible(Parameter)Annotations and AnnotationDefault; else whether its
// content was well-formed. What came before a mistake has been printed. Leaves the last line open.
std::optional<Result<void>> print_annotations(Listing& out, const ConstantPool& pool, const Attribute& attribute,
                                              std::size_t indent);

}  // namespace sonde::classfile
