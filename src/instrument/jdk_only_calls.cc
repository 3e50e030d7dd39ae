// SPDX-License-Identifier: Apache-2.0
#include "instrument/jdk_only_calls.h"

#include <algorithm>
#include <string_view>

#include "classfile/descriptor.h"

namespace sonde::instrument {
namespace {

// All of them final.
constexpr std::string_view kClosedClasses[] = {
    "java/lang/String", "java/lang/StringBuilder", "java/lang/StringBuffer", "java/lang/Character", "java/lang/Integer",
    "java/lang/Long",   "java/lang/Short",         "java/lang/Byte",         "java/lang/Boolean",   "java/lang/Float",
    "java/lang/Double", "java/lang/Math",          "java/lang/StrictMath"};

// Their own methods that ask others: system properties, which may be an object of the program, and character sets,
// which may come from it.
constexpr std::string_view kOpenMethods[] = {"getInteger", "getLong", "getBoolean", "getBytes"};

constexpr std::string_view kClosedOfSystem[] = {"arraycopy", "currentTimeMillis", "identityHashCode", "nanoTime"};

bool is_among(std::string_view name, auto& names) { return std::ranges::find(names, name) != std::end(names); }

// What the program cannot have written the methods of.
bool is_closed_type(std::string_view type) {
  type.remove_prefix(std::min(type.find_first_not_of('['), type.size()));
  if (type.empty()) return false;
  return type[0] != 'L' || is_among(type.substr(1, type.size() - 2), kClosedClasses);
}

bool has_closed_parameters(std::string_view descriptor) {
  const auto parsed = classfile::MethodDescriptor::parse(descriptor);
  if (!parsed) return false;
  for (std::string_view rest = parsed->parameters(); !rest.empty();) {
    const std::string_view type = classfile::first_type(rest);
    if (!is_closed_type(type)) return false;
    rest.remove_prefix(type.size());
  }
  return true;
}

// Strings from bytes in a character set that is known by its name.
bool decodes(const classfile::MemberRef& callee) {
  return callee.class_name == "java/lang/String" && callee.name == "<init>" && callee.descriptor.starts_with("([B");
}

}  // namespace

bool stays_in_jdk(const classfile::MemberRef& callee) {
  if (callee.class_name == "java/lang/Object") return callee.name == "getClass";
  if (callee.class_name == "java/lang/System") return is_among(callee.name, kClosedOfSystem);
  if (!is_among(callee.class_name, kClosedClasses)) return false;
  // They look at the class of what they are given, and at no more if it is not their own.
  if (callee.name == "equals") return true;
  return !is_among(callee.name, kOpenMethods) && !decodes(callee) && has_closed_parameters(callee.descriptor);
}

}  // namespace sonde::instrument
