// SPDX-License-Identifier: Apache-2.0
// Primitive types and void by their letter in descriptors (JVMS 4.3.2, 4.3.3); "" for any other character.
#pragma once

#include <string_view>

namespace sonde {

constexpr std::string_view primitive_name(char letter) {
  switch (letter) {
    case 'B': return "byte";
    case 'C': return "char";
    case 'D': return "double";
    case 'F': return "float";
    case 'I': return "int";
    case 'J': return "long";
    case 'S': return "short";
    case 'V': return "void";
    case 'Z': return "boolean";
    default: return {};
  }
}

}  // namespace sonde
