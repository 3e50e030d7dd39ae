// SPDX-License-Identifier: Apache-2.0
// What can be measured of a context. kMetrics is the one list of all metrics: columns of call trees, sums, recordings,
// formats and the command line follow it, so that a new metric is a row here and whatever measures it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::profile {

struct Profile;

enum class Metric : std::uint8_t {
  kCalls,
  kBytecodes,
  kSamples,
  kCpuNs,
  kWallNs,
  kExceptions,
  kAllocatedBytes,
  kAllocations
};

struct MetricInfo {
  Metric metric;
  std::string_view name;   // the same on the command line, in recordings and in JSON
  std::string_view label;  // for people, beside amounts that have a unit
  std::string_view unit;   // as formats with several values per stack name it: "count", "nanoseconds", "bytes"
  bool is_sampled;         // a count of random events, or estimated from one; times may be measured instead
};
inline constexpr std::array kMetrics = {
    MetricInfo{.metric = Metric::kCalls, .name = "calls", .label = "calls", .unit = "count", .is_sampled = false},
    MetricInfo{
        .metric = Metric::kBytecodes, .name = "bytecodes", .label = "bytecodes", .unit = "count", .is_sampled = false},
    MetricInfo{.metric = Metric::kSamples, .name = "samples", .label = "samples", .unit = "count", .is_sampled = true},
    MetricInfo{
        .metric = Metric::kCpuNs, .name = "cpu_ns", .label = "CPU time", .unit = "nanoseconds", .is_sampled = true},
    MetricInfo{
        .metric = Metric::kWallNs, .name = "wall_ns", .label = "wall time", .unit = "nanoseconds", .is_sampled = true},
    // Calls that ended by one.
    MetricInfo{.metric = Metric::kExceptions,
               .name = "exceptions",
               .label = "exceptions",
               .unit = "count",
               .is_sampled = false},
    // What samples of allocations stand for, and how many objects there were of them.
    MetricInfo{.metric = Metric::kAllocatedBytes,
               .name = "allocated_bytes",
               .label = "allocated bytes",
               .unit = "bytes",
               .is_sampled = true},
    MetricInfo{.metric = Metric::kAllocations,
               .name = "allocations",
               .label = "allocations",
               .unit = "count",
               .is_sampled = true},
};
inline constexpr std::size_t kMetricCount = kMetrics.size();

constexpr std::size_t index_of(Metric metric) { return static_cast<std::size_t>(metric); }
constexpr const MetricInfo& info_of(Metric metric) { return kMetrics[index_of(metric)]; }
constexpr std::string_view name_of(Metric metric) { return info_of(metric).name; }
constexpr bool is_time(Metric metric) { return info_of(metric).unit == "nanoseconds"; }
std::optional<Metric> metric_named(std::string_view name);

// An amount of each metric.
struct Amounts {
  std::array<std::uint64_t, kMetricCount> values = {};

  Amounts() = default;
  // The rest are zeros.
  Amounts(std::initializer_list<std::pair<Metric, std::uint64_t>> amounts) {
    for (const auto& [metric, amount] : amounts) of(metric) = amount;
  }
  [[nodiscard]] std::uint64_t of(Metric metric) const { return values[index_of(metric)]; }
  [[nodiscard]] std::uint64_t& of(Metric metric) { return values[index_of(metric)]; }
  Amounts& operator+=(const Amounts& other) {
    for (std::size_t i = 0; i < kMetricCount; ++i) values[i] += other.values[i];
    return *this;
  }
  bool operator==(const Amounts&) const = default;
};

// Over all threads.
std::uint64_t sum_of(const Profile& profile, Metric metric);
// Something of it was recorded.
bool has_metric(const Profile& profile, Metric metric);
// Those that it has, in the order of kMetrics; calls if it has none.
std::vector<MetricInfo> metrics_of(const Profile& profile);

// Whether its values are a count of random events or estimated from one.
bool is_sampled(const Profile& profile, Metric metric);

// The random events behind a metric that was sampled or estimated from samples: `size` of `metric` is one event.
struct Events {
  Metric metric;
  std::uint64_t size = 1;
};
// Nothing: the metric is exact.
std::optional<Events> events_behind(const Profile& profile, Metric metric);

// What says most about where the work was done, if the profile has anything of the kind. Calls are not: a call may do
// anything.
std::optional<Metric> metric_of_work(const Profile& profile);
// The same, of two profiles that both have it.
std::optional<Metric> common_metric_of_work(const Profile& a, const Profile& b);

}  // namespace sonde::profile
