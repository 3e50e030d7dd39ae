// SPDX-License-Identifier: Apache-2.0
#include "cli/sampling_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/table.h"

namespace sonde::cli {

using profile::Interval;
using profile::Metric;
using profile::Profile;
using profile::TimeSampling;

namespace {

std::string time_text(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns >= 1'000'000'000) return fmt::format("{:.3f} s", value / 1e9);
  if (ns >= 1'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  if (ns >= 1'000) return fmt::format("{:.1f} us", value / 1e3);
  return fmt::format("{} ns", ns);
}

std::string clock_text(const std::string& clock) {
  if (clock == "thread-timer") return "thread timers, not faster than the kernel's tick";
  std::string text = "perf clock";
  if (clock.find("shared") != std::string::npos) text += " of all threads";
  if (clock.find("user") != std::string::npos) text += " without the kernel's time";
  return text;
}

double samples_per_cpu_second(const TimeSampling& s) {
  return s.thread_cpu_ns == 0 ? 0 : static_cast<double>(s.cpu_samples) * 1e9 / static_cast<double>(s.thread_cpu_ns);
}

// 1, or less where signals stand for more than one sample.
double independent_share(const TimeSampling& s) {
  if (s.cpu_samples == 0) return 1;
  return profile::independent_samples(s.cpu_samples, s.cpu_counts_squared) / static_cast<double>(s.cpu_samples);
}

// Where it matters: ", as good as 103 independent ones".
std::string independent_text(const TimeSampling& s) {
  if (independent_share(s) > 0.9) return "";
  return fmt::format(", as good as {} independent ones",
                     grouped(std::llround(profile::independent_samples(s.cpu_samples, s.cpu_counts_squared))));
}

// The part of the threads' CPU time that samples stand for.
double sampled_share(const TimeSampling& s) {
  return samples_per_cpu_second(s) * static_cast<double>(s.cpu_interval_ns) / 1e9;
}

// An event for each thread misses what the kernel does to switch from one to the other, the event of all threads the
// period that was begun when a thread ends.
std::string missed_line(const TimeSampling& s) {
  constexpr std::uint64_t kEnough = 1'000;
  constexpr double kMuch = 0.2;
  const double missed = 1 - sampled_share(s);
  const bool has_own_events = s.cpu_clock == "perf" || s.cpu_clock == "perf-trap";
  const bool has_shared_event = s.cpu_clock == "perf-shared-trap";
  if ((!has_own_events && !has_shared_event) || s.cpu_samples < kEnough || missed < kMuch) return "";
  return fmt::format("Missed    {:.0f} % of the CPU time: {}\n", 100 * missed,
                     has_own_events ? "threads switch too often for events of their own; where they live for long, "
                                      "`sonde run --clock trap` has one event for all"
                                    : "threads end too soon for one event for all; `--clock perf` gives each its own");
}

double failed_percent(const TimeSampling& s) {
  const std::uint64_t all = s.cpu_samples + s.wall_samples;
  return all == 0 ? 0 : 100.0 * static_cast<double>(s.failed_samples) / static_cast<double>(all);
}

}  // namespace

std::string amount_text(Metric metric, std::uint64_t value) {
  return profile::is_time(metric) ? time_text(value) : grouped(value);
}

Interval confidence_of(const Profile& profile, Metric metric, std::uint64_t part, std::uint64_t whole) {
  const TimeSampling& s = profile.recording.time_sampling;
  const bool is_cpu = metric == Metric::kCpuNs || (metric == Metric::kSamples && !profile.recording.sampling.is_on());
  const std::uint64_t interval = metric == Metric::kCpuNs    ? s.cpu_interval_ns
                                 : metric == Metric::kWallNs ? s.wall_interval_ns
                                                             : 1;
  const double scale = (is_cpu ? independent_share(s) : 1) / static_cast<double>(std::max<std::uint64_t>(interval, 1));
  return profile::wilson_interval(static_cast<double>(part) * scale, static_cast<double>(whole) * scale);
}

std::string confidence_text(const Interval& interval) {
  return fmt::format("{:.1f}-{:.1f} %", 100 * interval.low, 100 * interval.high);
}

std::string sampling_lines(const Profile& profile) {
  const TimeSampling& s = profile.recording.time_sampling;
  if (!s.is_on()) return "";
  std::string text;
  if (s.cpu_interval_ns != 0) {
    text += fmt::format("Sampled   {} CPU samples, one each {} asked for; {:.0f} per CPU second ({}){}\n",
                        grouped(s.cpu_samples), time_text(s.cpu_interval_ns), samples_per_cpu_second(s),
                        clock_text(s.cpu_clock), independent_text(s));
    text += missed_line(s);
  }
  if (s.wall_interval_ns != 0) {
    text += fmt::format("Sampled   {} wall-clock samples, each thread every {}\n", grouped(s.wall_samples),
                        time_text(s.wall_interval_ns));
  }
  text += fmt::format("Failed    {} samples without a complete stack ({:.2f} %)\n", grouped(s.failed_samples),
                      failed_percent(s));
  text += fmt::format("Own cost  {} in handlers ({} each, 99 % below {}), {} decoding; {} of memory\n",
                      time_text(s.handler_ns), time_text(s.handler_p50_ns), time_text(s.handler_p99_ns),
                      time_text(s.decoder_cpu_ns), byte_size(s.memory_bytes));
  return text;
}

nlohmann::ordered_json sampling_json(const Profile& profile) {
  const TimeSampling& s = profile.recording.time_sampling;
  return {{"cpu_interval_ns", s.cpu_interval_ns},
          {"wall_interval_ns", s.wall_interval_ns},
          {"cpu_clock", s.cpu_clock},
          {"walker", s.walker},
          {"cpu_samples", s.cpu_samples},
          {"independent_cpu_samples", profile::independent_samples(s.cpu_samples, s.cpu_counts_squared)},
          {"wall_samples", s.wall_samples},
          {"failed_samples", s.failed_samples},
          {"samples_per_cpu_second", samples_per_cpu_second(s)},
          {"thread_cpu_ns", s.thread_cpu_ns},
          {"handler_ns", s.handler_ns},
          {"handler_p50_ns", s.handler_p50_ns},
          {"handler_p99_ns", s.handler_p99_ns},
          {"decoder_cpu_ns", s.decoder_cpu_ns},
          {"memory_bytes", s.memory_bytes}};
}

}  // namespace sonde::cli
