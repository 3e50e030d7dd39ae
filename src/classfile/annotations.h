// SPDX-License-Identifier: Apache-2.0
// Looks for one annotation without elements on a member: all that instrumentation asks of annotations.
#pragma once

#include <string_view>

#include "classfile/class_file.h"

namespace sonde::classfile {

// Whether RuntimeVisibleAnnotations has one of this type ("Ljdk/internal/vm/annotation/IntrinsicCandidate;"). A table
// that does not fit its length counts as far as it can be read.
bool has_annotation(const ConstantPool& pool, const Member& member, std::string_view type);

}  // namespace sonde::classfile
