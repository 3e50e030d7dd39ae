// SPDX-License-Identifier: Apache-2.0
// What a profile measured, in the words that formats with several values per stack use: a name and a unit.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace sonde::format {

struct ValueType {
  profile::Metric metric;
  std::string_view name;  // "calls", as on the command line
  std::string_view unit;  // "count", "nanoseconds", "bytes"
};

// Those of which there is anything, in an order that never changes; never empty.
std::vector<ValueType> value_types_of(const profile::Profile& profile);

std::optional<ValueType> value_type_named(std::string_view name);
ValueType value_type_of(profile::Metric metric);

}  // namespace sonde::format
