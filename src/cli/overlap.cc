// SPDX-License-Identifier: Apache-2.0
#include "profile/overlap.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/compare_command.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using profile::Metric;
using profile::Profile;

constexpr int kOverlapVersion = 1;  // docs/reference/overlap.schema.json

// The metric to use, or nothing if the recording has none; then the user has been told.
std::optional<Metric> metric_of(const Profile& profile, std::optional<Metric> wanted, const std::string& path,
                                const Console& console) {
  const std::optional<Metric> metric = wanted ? wanted : profile::metric_of_work(profile);
  if (metric && profile::has_metric(profile, *metric)) return metric;
  console.say(fmt::format("{}: has no {}, so there is nothing to compare", path,
                          metric ? profile::name_of(*metric) : "bytecodes and no samples"));
  console.note("       `sonde status` tells what a recording holds; --metric chooses what is compared.\n");
  return std::nullopt;
}

nlohmann::ordered_json json_of(const std::string& path, const Profile& profile, Metric metric,
                               const profile::Overlap::Side& side) {
  nlohmann::ordered_json json = {
      {"file", path}, {"metric", profile::name_of(metric)}, {"sum", side.sum}, {"contexts", side.contexts}};
  json["recording"] = recording_json(profile);
  return json;
}

std::string line_of(char letter, const std::string& path, Metric metric, const profile::Overlap::Side& side) {
  return fmt::format("{}         {}: {} {} in {} contexts\n", letter, path, amount_text(metric, side.sum),
                     profile::info_of(metric).label, grouped(side.contexts));
}

}  // namespace

int overlap(const OverlapOptions& options, const Console& console) {
  console.doing("reading " + options.a, 1, 3);
  const auto a = open_recording(options.a, console);
  if (!a) return kFailed;
  console.doing("reading " + options.b, 2, 3);
  const auto b = open_recording(options.b, console);
  if (!b) return kFailed;
  const auto metric_a = metric_of(*a, options.metric_a, options.a, console);
  const auto metric_b = metric_of(*b, options.metric_b, options.b, console);
  if (!metric_a || !metric_b) return kFailed;

  console.doing("comparing", 3, 3);
  const profile::Overlap result =
      profile::overlap({*a, *metric_a}, {*b, *metric_b},
                       {.filter = MethodFilter(options.include, options.exclude), .by_thread = options.by_thread});
  if (result.a.sum == 0 || result.b.sum == 0) {
    console.say("nothing is left to compare: no method of " + (result.a.sum == 0 ? options.a : options.b) +
                " matches the patterns");
    return kFailed;
  }
  if (options.json) {
    nlohmann::ordered_json json = {{"overlap_version", kOverlapVersion},
                                   {"overlap_percent", result.percent},
                                   {"common_contexts", result.common_contexts},
                                   {"by_thread", options.by_thread}};
    json["a"] = json_of(options.a, *a, *metric_a, result.a);
    json["b"] = json_of(options.b, *b, *metric_b, result.b);
    console.data(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  } else {
    console.data(
        line_of('A', options.a, *metric_a, result.a) + losses_of(*a) + line_of('B', options.b, *metric_b, result.b) +
        losses_of(*b) +
        fmt::format("Common    {} contexts\nOverlap   {:.2f} %\n", grouped(result.common_contexts), result.percent));
  }
  return console.flush() ? kOk : kFailed;
}

}  // namespace sonde::cli
