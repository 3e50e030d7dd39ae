// SPDX-License-Identifier: Apache-2.0
// A class file as text, close to what `javap -v -p` prints so that its readers feel at home, and exact enough that the
// test in test/javap compares the two. For people and for golden tests: every pass is shown as a listing before and
// after. Damage inside of an attribute is printed as <malformed: reason> where it was met.
#pragma once

#include <string>

#include "classfile/class_file.h"

namespace sonde::classfile {

struct PrintOptions {
  bool constant_pool = true;
  // Only methods that have code, and of them only instructions and exception table.
  bool code_only = false;
};

// Appends the listing.
void print(const ClassFile& cls, const PrintOptions& options, std::string& out);

// Appends one method as print() does.
void print_method(const ClassFile& cls, const Member& method, const PrintOptions& options, std::string& out);

}  // namespace sonde::classfile
