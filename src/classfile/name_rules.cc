// SPDX-License-Identifier: Apache-2.0
#include "classfile/name_rules.h"

#include "classfile/descriptor.h"

namespace sonde::classfile {

bool is_unqualified_name(std::string_view name) {
  return !name.empty() && name.find_first_of(".;[/") == std::string_view::npos;
}

bool is_method_name(std::string_view name) {
  if (name == "<init>" || name == "<clinit>") return true;
  return !name.empty() && name.find_first_of(".;[/<>") == std::string_view::npos;
}

bool is_class_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.back() == '/') return false;
  char previous = 0;
  for (const char c : name) {
    if (c == '.' || c == ';' || c == '[' || (c == '/' && previous == '/')) return false;
    previous = c;
  }
  return true;
}

bool is_class_or_array(std::string_view name) {
  return name.starts_with('[') ? is_type_descriptor(name) : is_class_name(name);
}

bool is_type_descriptor(std::string_view descriptor) {
  if (!is_field_descriptor(descriptor)) return false;
  const std::string_view element = descriptor.substr(descriptor.find_first_not_of('['));
  return element[0] != 'L' || is_class_name(element.substr(1, element.size() - 2));
}

bool is_method_descriptor(std::string_view descriptor) {
  const auto parsed = MethodDescriptor::parse(descriptor);
  if (!parsed) return false;
  for (std::string_view rest = parsed->parameters(); !rest.empty();) {
    const std::string_view type = first_type(rest);
    if (!is_type_descriptor(type)) return false;
    rest.remove_prefix(type.size());
  }
  return parsed->return_type() == "V" || is_type_descriptor(parsed->return_type());
}

}  // namespace sonde::classfile
