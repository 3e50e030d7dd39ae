// SPDX-License-Identifier: Apache-2.0
#include "agent/session/jdk_callbacks.h"

#include <algorithm>
#include <array>
#include <optional>

#include "classfile/descriptor.h"

namespace sonde::agent {
namespace {

constexpr std::array<std::string_view, 12> kFinalClasses = {
    "java/lang/String", "java/lang/StringBuilder", "java/lang/StringBuffer", "java/lang/Integer",
    "java/lang/Long",   "java/lang/Double",        "java/lang/Character",    "java/lang/Boolean",
    "java/lang/Class",  "java/util/Optional",      "java/lang/Byte",         "java/lang/Float"};

// Keep what they are given, or look at its identity or class alone, unless elements have an order or are compared.
constexpr std::array<std::string_view, 16> kKeeping = {
    "add",  "addFirst",       "addLast",    "addElement", "push",      "set",           "setElementAt",     "lazySet",
    "cast", "requireNonNull", "isInstance", "arraycopy",  "getAndSet", "compareAndSet", "identityHashCode", "fill"};

bool is_concatenation(const NamedMethod& callee) {
  return callee.class_name.empty() && callee.name.starts_with("makeConcat");
}

// Has keys or elements that are hashed or compared.
bool compares_elements(std::string_view owner) {
  return owner.find("Set") != owner.npos || owner.find("Map") != owner.npos || owner.find("Queue") != owner.npos ||
         owner.ends_with("/Collection") || owner.ends_with("/Hashtable");
}

// What such a call runs is the receiver's, as a rule of the program.
bool is_for_programs(std::string_view owner) {
  return owner == "java/lang/Object" || owner == "java/lang/Comparable" || owner.starts_with("java/util/function/");
}

bool makes_text(const NamedMethod& callee) {
  const std::string_view result = std::string_view(callee.descriptor).substr(callee.descriptor.find(')') + 1);
  return result == "Ljava/lang/String;" || result == "Ljava/lang/StringBuilder;" ||
         result == "Ljava/lang/StringBuffer;" || callee.name.starts_with("print");
}

// The descriptors of parameters, one by one.
std::vector<std::string_view> parameters_of(std::string_view descriptor) {
  std::vector<std::string_view> types;
  const auto parsed = classfile::MethodDescriptor::parse(descriptor);
  if (!parsed) return types;
  for (std::string_view rest = parsed->parameters(); !rest.empty();) {
    std::size_t end = rest.find_first_not_of('[');
    end = rest[end] == 'L' ? rest.find(';', end) + 1 : end + 1;
    types.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return types;
}

}  // namespace

bool is_named_like_jdk(std::string_view name) {
  return name.starts_with("java/") || name.starts_with("jdk/") || name.starts_with("sun/");
}

bool is_final_in_jdk(std::string_view class_name) {
  return std::ranges::find(kFinalClasses, class_name) != kFinalClasses.end();
}

std::vector<PassedObject> objects_passed_to_jdk(const NamedMethod& callee) {
  std::vector<PassedObject> passed;
  const bool concatenates = is_concatenation(callee);
  if (!concatenates && (!is_named_like_jdk(callee.class_name) || is_for_programs(callee.class_name))) return passed;
  const std::vector<std::string_view> types = parameters_of(callee.descriptor);
  for (std::uint32_t depth = 0; depth < 2 && depth < types.size(); ++depth) {
    const std::string_view type = types[types.size() - 1 - depth];
    if (type == "J" || type == "D") break;
    if (type[0] != 'L') continue;
    const std::string_view name = type.substr(1, type.size() - 2);
    if (is_final_in_jdk(name)) continue;
    PassedObject object{.depth = depth, .as = concatenates ? "java/lang/Object" : std::string(name)};
    if (object.as == "java/lang/Object" && called_of_object(callee, depth).empty()) continue;
    passed.push_back(std::move(object));
  }
  return passed;
}

std::vector<NamedMethod> called_of_object(const NamedMethod& callee, std::uint32_t depth) {
  if (is_concatenation(callee) || makes_text(callee)) return {{"", "toString", "()Ljava/lang/String;"}};
  const bool compares = compares_elements(callee.class_name);
  if (!compares && std::ranges::find(kKeeping, callee.name) != kKeeping.end()) return {};
  // A map looks at its keys, which come first.
  const bool is_value = depth == 0 && parameters_of(callee.descriptor).size() > 1;
  if (compares && is_value && callee.name != "remove") return {};
  const NamedMethod compare_to{"", "compareTo", "(Ljava/lang/Object;)I"};
  if (callee.class_name == "java/util/Comparator") return {compare_to};
  return {{"", "hashCode", "()I"}, {"", "equals", "(Ljava/lang/Object;)Z"}, compare_to};
}

}  // namespace sonde::agent
