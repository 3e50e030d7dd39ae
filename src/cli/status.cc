// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/attach_command.h"
#include "cli/recording_command.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "cli/status_report.h"
#include "cli/subgraph_report.h"
#include "cli/table.h"

namespace sonde::cli {
namespace {

struct Contents {
  std::uint64_t contexts = 0;
  std::uint32_t depth = 0;
  std::uint64_t methods_called = 0;
  std::uint64_t methods = 0;  // known, as are the classes
  std::uint64_t classes = 0;
  double bytes_per_node = 0;  // of the arena
  std::uint64_t threads = 0;
  std::uint64_t groups = 0;  // call trees that several threads share
  std::uint64_t threads_in_groups = 0;
};

Contents contents_of(const profile::Profile& profile) {
  Contents contents;
  std::vector<bool> is_called(profile.methods.size());
  for (std::size_t node = 0; node < profile.tree.size(); ++node) {
    if (profile.tree.depth[node] == 0) continue;
    ++contents.contexts;
    contents.depth = std::max(contents.depth, profile.tree.depth[node]);
    is_called[profile.tree.method[node].value()] = true;
  }
  contents.methods_called = static_cast<std::uint64_t>(std::count(is_called.begin(), is_called.end(), true));
  for (const profile::Thread& thread : profile.threads) {
    contents.threads += 1 + thread.more;
    if (thread.more == 0) continue;
    ++contents.groups;
    contents.threads_in_groups += 1 + thread.more;
  }
  const profile::Recording& recording = profile.recording;
  contents.methods = std::max<std::uint64_t>(recording.known_methods, profile.methods.size() - 1);
  contents.classes = std::max<std::uint64_t>(recording.known_classes, profile.classes.size() - 1);
  if (recording.arena_nodes != 0) {
    contents.bytes_per_node = static_cast<double>(recording.arena_bytes) / static_cast<double>(recording.arena_nodes);
  }
  return contents;
}

}  // namespace

std::string status_text(const profile::Profile& profile) {
  const Contents contents = contents_of(profile);
  const profile::Recording& recording = profile.recording;
  std::string text = recording_header(profile);
  text += sampling_lines(profile) + subgraph_lines(profile);
  text += fmt::format("Own cost  {} of CPU for rewriting classes\n",
                      seconds(std::chrono::nanoseconds(recording.own_cpu_ns)));
  text += fmt::format("Arena     {} of {} used", byte_size(recording.arena_bytes), byte_size(recording.arena_capacity));
  text += recording.is_flat() ? "\n"
                              : fmt::format(", {:.0f} bytes for each of {} nodes\n", contents.bytes_per_node,
                                            grouped(recording.arena_nodes));
  text += recording.is_flat() ? fmt::format("Contents  {} counters, no contexts\n", grouped(contents.contexts))
                              : fmt::format("Contents  {} contexts, {} deep at most\n", grouped(contents.contexts),
                                            grouped(contents.depth));
  text += fmt::format("Threads   {} in {} call trees", grouped(contents.threads), grouped(profile.threads.size()));
  text += contents.groups == 0 ? "\n"
                               : fmt::format("; {} of these have {} threads together\n", grouped(contents.groups),
                                             grouped(contents.threads_in_groups));
  text += fmt::format("Methods   {} called of {} known, in {} classes\n", grouped(contents.methods_called),
                      grouped(contents.methods), grouped(contents.classes));
  if (profile.counters.empty() && recording.damage_count == 0) text += "Losses    none\n";
  for (const std::string& note : recording.damage_notes) text += "damage    " + note + "\n";
  return text;
}

nlohmann::ordered_json status_json(const profile::Profile& profile) {
  const Contents contents = contents_of(profile);
  nlohmann::ordered_json json = recording_json(profile);
  json["own_cpu_ns"] = profile.recording.own_cpu_ns;
  if (profile.recording.time_sampling.is_on()) json["time_sampling"] = sampling_json(profile);
  if (profile.recording.subgraph.is_on()) json["subgraph"] = subgraph_json(profile);
  json["arena"] = {{"bytes", profile.recording.arena_bytes},
                   {"capacity", profile.recording.arena_capacity},
                   {"nodes", profile.recording.arena_nodes},
                   {"bytes_per_node", contents.bytes_per_node}};
  json["contexts"] = contents.contexts;
  json["depth"] = contents.depth;
  json["threads"] = contents.threads;
  json["call_trees"] = profile.threads.size();
  json["groups"] = contents.groups;
  json["classes"] = contents.classes;
  json["methods"] = contents.methods;
  json["methods_called"] = contents.methods_called;
  return json;
}

int status(const StatusOptions& options, const Console& console) {
  const bool is_number = options.file.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && !std::filesystem::exists(options.file))
    return status_of_process(options.file, options.json, console);
  console.doing("reading " + options.file, 1, 1);
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  console.data(options.json
                   ? status_json(*profile).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
                   : status_text(*profile));
  return console.flush() ? kOk : kFailed;
}

}  // namespace sonde::cli
