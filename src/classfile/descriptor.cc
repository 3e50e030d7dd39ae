// SPDX-License-Identifier: Apache-2.0
#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

constexpr std::string_view kPrimitives = "BCDFIJSZ";
constexpr std::size_t kMaxDimensions = 255;

}  // namespace

std::string_view first_type(std::string_view descriptor) {
  std::size_t end = descriptor.find_first_not_of('[');
  if (end == std::string_view::npos || end > kMaxDimensions) return {};
  if (descriptor[end] == 'L') {
    const std::size_t semicolon = descriptor.find(';', end);
    if (semicolon == std::string_view::npos || semicolon == end + 1) return {};
    end = semicolon;
  } else if (kPrimitives.find(descriptor[end]) == std::string_view::npos) {
    return {};
  }
  return descriptor.substr(0, end + 1);
}

bool is_field_descriptor(std::string_view descriptor) {
  return !descriptor.empty() && first_type(descriptor).size() == descriptor.size();
}

std::optional<MethodDescriptor> MethodDescriptor::parse(std::string_view descriptor) {
  if (descriptor.empty() || descriptor[0] != '(') return std::nullopt;
  MethodDescriptor result;
  std::size_t at = 1;
  while (at < descriptor.size() && descriptor[at] != ')') {
    const std::string_view type = first_type(descriptor.substr(at));
    if (type.empty()) return std::nullopt;
    result.parameter_slots_ += slots_of(type[0]);
    at += type.size();
  }
  if (at >= descriptor.size()) return std::nullopt;
  result.parameters_ = descriptor.substr(1, at - 1);
  result.return_type_ = descriptor.substr(at + 1);
  if (result.return_type_ != "V" && !is_field_descriptor(result.return_type_)) return std::nullopt;
  return result;
}

}  // namespace sonde::classfile
