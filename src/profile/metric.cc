// SPDX-License-Identifier: Apache-2.0
#include "profile/metric.h"

#include <algorithm>
#include <numeric>

namespace sonde::profile {

std::string_view name_of(Metric metric) {
  const auto it = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& i) { return i.metric == metric; });
  SONDE_CHECK(it != kMetrics.end());
  return it->name;
}

std::optional<Metric> metric_named(std::string_view name) {
  const auto it = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& info) { return info.name == name; });
  return it == kMetrics.end() ? std::nullopt : std::optional(it->metric);
}

std::uint64_t sum_of(const Profile& profile, Metric metric) {
  const std::vector<std::uint64_t>& values = profile.tree.values(metric);
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

bool has_metric(const Profile& profile, Metric metric) {
  const std::vector<std::uint64_t>& values = profile.tree.values(metric);
  return std::any_of(values.begin(), values.end(), [](std::uint64_t value) { return value != 0; });
}

std::optional<Metric> event_metric(const Profile& profile) {
  return profile.recording.mode.starts_with("exact") ? std::nullopt : metric_named("samples");
}

std::optional<Metric> metric_of_work(const Profile& profile) { return common_metric_of_work(profile, profile); }

std::optional<Metric> common_metric_of_work(const Profile& a, const Profile& b) {
  for (const MetricInfo& info : kMetrics) {
    if (info.metric != Metric::kCalls && has_metric(a, info.metric) && has_metric(b, info.metric)) return info.metric;
  }
  return std::nullopt;
}

}  // namespace sonde::profile
