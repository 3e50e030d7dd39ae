// SPDX-License-Identifier: Apache-2.0
// Which methods of the program the JDK may call, where the JDK itself is left alone (mode subgraph): methods of objects
// that it is given. A comparator goes to a TreeMap, a key to a HashMap, a Runnable to whoever runs it.
//
// The type of the parameter tells what they are for. What the JDK does with an Object, the name of the method tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::agent {

// A method by its names.
struct NamedMethod {
  std::string class_name;
  std::string name;
  std::string descriptor;
  bool operator==(const NamedMethod&) const = default;
};

bool is_named_like_jdk(std::string_view class_name);
// Classes of the JDK that nobody can extend: a call of theirs runs their own methods.
bool is_final_in_jdk(std::string_view class_name);

// An argument that may be an object of the program.
struct PassedObject {
  std::uint32_t depth = 0;  // on the stack, in words
  std::string as;           // the class of the parameter
  bool operator==(const PassedObject&) const = default;
};
// Those of the last two arguments, by the names of the callee; none if it is not the JDK's. A concatenation of strings
// is (JLS 15.18.1), and asks for Object.toString.
std::vector<PassedObject> objects_passed_to_jdk(const NamedMethod& callee);

// Methods that the callee may call of an argument whose type is Object: of toString, hashCode, equals and compareTo.
std::vector<NamedMethod> called_of_object(const NamedMethod& callee, std::uint32_t depth);

}  // namespace sonde::agent
