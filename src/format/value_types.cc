// SPDX-License-Identifier: Apache-2.0
#include "format/value_types.h"

#include <algorithm>
#include <array>

#include "base/result.h"

namespace sonde::format {
namespace {

constexpr std::array kValueTypes = {ValueType{profile::Metric::kCalls, "calls", "count"},
                                    ValueType{profile::Metric::kBytecodes, "bytecodes", "count"},
                                    ValueType{profile::Metric::kSamples, "samples", "count"},
                                    ValueType{profile::Metric::kCpuNs, "cpu_ns", "nanoseconds"},
                                    ValueType{profile::Metric::kWallNs, "wall_ns", "nanoseconds"}};

}  // namespace

std::vector<ValueType> value_types_of(const profile::Profile& profile) {
  std::vector<ValueType> present;
  for (const ValueType& type : kValueTypes) {
    const auto& values = profile.tree.values(type.metric);
    if (std::ranges::any_of(values, [](std::uint64_t value) { return value != 0; })) present.push_back(type);
  }
  if (present.empty()) present.push_back(kValueTypes.front());
  return present;
}

std::optional<ValueType> value_type_named(std::string_view name) {
  const auto* const it = std::ranges::find(kValueTypes, name, &ValueType::name);
  return it == kValueTypes.end() ? std::nullopt : std::optional(*it);
}

ValueType value_type_of(profile::Metric metric) {
  const auto* const it = std::ranges::find(kValueTypes, metric, &ValueType::metric);
  SONDE_CHECK(it != kValueTypes.end());
  return *it;
}

}  // namespace sonde::format
