// SPDX-License-Identifier: Apache-2.0
#include "base/method_filter.h"

#include <algorithm>

#include "base/glob.h"

namespace sonde {

bool method_matches(std::string_view pattern, std::string_view class_name, std::string_view method_name) {
  std::string name(class_name);
  const std::size_t class_length = name.size();
  name += '.';
  name += method_name;
  const std::string_view whole = name;
  const std::size_t simple = class_name.rfind('/') + 1;  // 0 in the unnamed package
  return class_name_matches(pattern, whole) || class_name_matches(pattern, whole.substr(0, class_length)) ||
         class_name_matches(pattern, whole.substr(simple)) ||
         class_name_matches(pattern, whole.substr(simple, class_length - simple));
}

bool MethodFilter::accepts(std::string_view class_name, std::string_view method_name) const {
  const auto matches = [&](const std::string& pattern) { return method_matches(pattern, class_name, method_name); };
  if (!include_.empty() && std::none_of(include_.begin(), include_.end(), matches)) return false;
  return std::none_of(exclude_.begin(), exclude_.end(), matches);
}

}  // namespace sonde
