// SPDX-License-Identifier: Apache-2.0
// The metrics by name, the same on the command line, in recordings and in JSON; and which of them a profile has.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "profile/profile.h"

namespace sonde::profile {

struct MetricInfo {
  Metric metric;
  std::string_view name;
};
// Samples come before what is estimated from them.
inline constexpr std::array kMetrics = {MetricInfo{Metric::kCalls, "calls"}, MetricInfo{Metric::kCpuNs, "cpu_ns"},
                                        MetricInfo{Metric::kWallNs, "wall_ns"}, MetricInfo{Metric::kSamples, "samples"},
                                        MetricInfo{Metric::kBytecodes, "bytecodes"}};

std::string_view name_of(Metric metric);
std::optional<Metric> metric_named(std::string_view name);

// Over all threads.
std::uint64_t sum_of(const Profile& profile, Metric metric);
// Something of it was recorded.
bool has_metric(const Profile& profile, Metric metric);

// The metric that counts random events, if the recording was sampled: its other numbers are estimated from it.
std::optional<Metric> event_metric(const Profile& profile);

// What says most about where the work was done, if the profile has anything of the kind. Calls are not: a call may do
// anything.
std::optional<Metric> metric_of_work(const Profile& profile);
// The same, of two profiles that both have it.
std::optional<Metric> common_metric_of_work(const Profile& a, const Profile& b);

}  // namespace sonde::profile
