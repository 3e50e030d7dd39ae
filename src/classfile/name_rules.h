// SPDX-License-Identifier: Apache-2.0
// Which names and descriptors a class file may hold (JVMS 4.2 and 4.3), as HotSpot checks them from version 49 on:
// nearly everything is a name except the few characters that the format itself needs.
#pragma once

#include <string_view>

namespace sonde::classfile {

bool is_unqualified_name(std::string_view name);  // a field, or one part of a class name
bool is_method_name(std::string_view name);       // unqualified without < and >, or <init> or <clinit>
bool is_class_name(std::string_view name);        // "java/lang/Object"
bool is_class_or_array(std::string_view name);    // what a Class entry holds: also "[Ljava/lang/Object;" and "[I"

// Beyond the syntax that descriptor.h reads, the class names inside are names too.
bool is_type_descriptor(std::string_view descriptor);
bool is_method_descriptor(std::string_view descriptor);

}  // namespace sonde::classfile
