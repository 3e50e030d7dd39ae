// SPDX-License-Identifier: Apache-2.0
// Access flags as words. The same bit means different things on classes, fields, methods and parameters, and JVMS has a
// table for each (4.1-B, 4.5-A, 4.6-A, 4.7.6-A, 4.7.24, 4.7.25); here they are one.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::classfile {

enum class FlagsOf : std::uint16_t {
  kClass = 1,
  kInnerClass = 2,
  kField = 4,
  kMethod = 8,
  kParameter = 16,
  kModule = 32,
  kRequires = 64,
  kExports = 128,  // and opens
};

// "public static final"; bits without a meaning there as "0x0040".
std::string flag_words(std::uint16_t flags, FlagsOf what);

}  // namespace sonde::classfile
