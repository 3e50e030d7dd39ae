// SPDX-License-Identifier: Apache-2.0
#include "profile/metric.h"

#include <algorithm>
#include <numeric>

#include "profile/profile.h"

namespace sonde::profile {
namespace {

consteval bool is_in_order() {
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (index_of(kMetrics[i].metric) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "info_of() takes the number of a metric as its place");

// Of samples that came from elsewhere: most profilers take a hundred in a second.
constexpr std::uint64_t kUsualInterval = 10'000'000;

// What people look for comes first: time before samples, samples before what is estimated from them.
constexpr std::array kMetricsOfWork = {Metric::kCpuNs, Metric::kWallNs, Metric::kSamples, Metric::kBytecodes,
                                       Metric::kAllocatedBytes};

}  // namespace

std::optional<Metric> metric_named(std::string_view name) {
  const auto it = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const auto& info) { return info.name == name; });
  return it == kMetrics.end() ? std::nullopt : std::optional(it->metric);
}

std::uint64_t sum_of(const Profile& profile, Metric metric) {
  const std::span<const std::uint64_t> values = profile.tree.values(metric);
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

bool has_metric(const Profile& profile, Metric metric) { return !profile.tree.values(metric).empty(); }

std::vector<MetricInfo> metrics_of(const Profile& profile) {
  std::vector<MetricInfo> present;
  for (const MetricInfo& info : kMetrics) {
    if (has_metric(profile, info.metric)) present.push_back(info);
  }
  if (present.empty()) present.push_back(info_of(Metric::kCalls));
  return present;
}

bool is_sampled(const Profile& profile, Metric metric) {
  const TimeSampling& sampling = profile.recording.time_sampling;
  if (!profile.recording.subgraph.is_on() || !is_time(metric)) return info_of(metric).is_sampled;
  return (metric == Metric::kWallNs ? sampling.wall_interval_ns : sampling.cpu_interval_ns) != 0;
}

std::optional<Events> events_behind(const Profile& profile, Metric metric) {
  const Recording& recording = profile.recording;
  if (!is_sampled(profile, metric)) {
    const bool is_estimated = recording.mode.find("bytecode") != std::string::npos;
    return is_estimated ? std::optional(Events{.metric = Metric::kSamples}) : std::nullopt;
  }
  if (metric == Metric::kAllocatedBytes && has_metric(profile, Metric::kAllocations)) {
    return Events{.metric = Metric::kAllocations};
  }
  if (metric == Metric::kCpuNs && has_metric(profile, Metric::kSamples)) return Events{.metric = Metric::kSamples};
  if (!is_time(metric)) return Events{.metric = metric};
  const TimeSampling& sampling = recording.time_sampling;
  const std::uint64_t interval = metric == Metric::kWallNs ? sampling.wall_interval_ns : sampling.cpu_interval_ns;
  return Events{.metric = metric, .size = interval != 0 ? interval : kUsualInterval};
}

std::optional<Metric> metric_of_work(const Profile& profile) { return common_metric_of_work(profile, profile); }

std::optional<Metric> common_metric_of_work(const Profile& a, const Profile& b) {
  for (const Metric metric : kMetricsOfWork) {
    if (has_metric(a, metric) && has_metric(b, metric)) return metric;
  }
  return std::nullopt;
}

}  // namespace sonde::profile
