// SPDX-License-Identifier: Apache-2.0
#include "cli/subgraph_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/sampling_report.h"
#include "cli/table.h"
#include "profile/metric.h"

namespace sonde::cli {

using profile::Metric;
using profile::Profile;
using profile::RootCalls;
using profile::Subgraph;

namespace {

Metric time_metric(const Profile& profile) {
  return profile.recording.subgraph.time == "cpu" ? Metric::kCpuNs : Metric::kWallNs;
}

std::string time_text(std::uint64_t ns) { return amount_text(Metric::kWallNs, ns); }

// Null: there is none, as of a tree of samples.
const RootCalls* root_of(const Profile& profile, profile::MethodId method) {
  const auto it = std::ranges::find(profile.roots, method, &RootCalls::method);
  return it == profile.roots.end() ? nullptr : &*it;
}

std::string cost_text(std::uint64_t ps, std::uint64_t error_ps) {
  return fmt::format("{:.1f} ns +-{:.1f}", static_cast<double>(ps) / 1000, static_cast<double>(error_ps) / 1000);
}

std::string bare_text(const RootCalls& root, const Profile& profile) {
  std::string text = fmt::format("Bare      {} calls of {} before what it calls was instrumented",
                                 grouped(root.all_bare), profile.display_name(root.method));
  if (root.bare_error_ns == 0) return text + ", too few to say what it takes\n";
  return text + fmt::format(": it takes {} +-{:.0f} %, so a call below it costs {} % of what was calibrated\n",
                            time_text(root.bare_ns / root.bare),
                            100.0 * static_cast<double>(root.bare_error_ns) / static_cast<double>(root.bare_ns),
                            root.cost_percent);
}

// Of all methods; and of those that are distorted, how many.
struct Overall {
  Correction correction;
  std::uint64_t distorted = 0;
};

Overall overall_of(const Profile& profile) {
  const std::vector<Correction> corrections = corrections_of(profile);
  std::vector<std::uint64_t> by_method(profile.methods.size());
  for (std::uint32_t node = 0; node < profile.tree.size(); ++node)
    by_method[profile.tree.method[node].value()] += profile.tree.value(time_metric(profile), node);
  Overall overall;
  for (std::size_t i = 1; i < corrections.size(); ++i) {
    overall.correction.ns += corrections[i].ns;
    overall.correction.error_ns += corrections[i].error_ns;
    if (is_distorted(corrections[i], by_method[i])) ++overall.distorted;
  }
  return overall;
}

}  // namespace

std::vector<Correction> corrections_of(const Profile& profile) {
  const Subgraph& cost = profile.recording.subgraph;
  std::vector<Correction> corrections(profile.methods.size());
  if (cost.time == "off") return corrections;
  const profile::CallTree& tree = profile.tree;
  std::vector<std::uint32_t> path;
  const RootCalls* root = nullptr;
  const auto add = [&](std::uint32_t node, std::uint64_t calls, std::uint64_t ps, std::uint64_t error_ps) {
    const std::uint64_t percent = root == nullptr ? 100 : root->cost_percent;
    Correction& correction = corrections[tree.method[node].value()];
    correction.ns += calls * ps / 1000 * percent / 100;
    correction.error_ns += calls * error_ps / 1000 * percent / 100;
  };
  for (std::uint32_t node = 0; node < tree.size(); ++node) {
    path.resize(tree.depth[node]);
    if (tree.depth[node] == 1) root = root_of(profile, tree.method[node]);
    add(node, tree.value(Metric::kCalls, node), cost.inner_ps, cost.inner_error_ps);
    if (tree.depth[node] > 1) add(path.back(), tree.value(Metric::kCalls, node), cost.outer_ps, cost.outer_error_ps);
    path.push_back(node);
  }
  return corrections;
}

bool is_distorted(const Correction& correction, std::uint64_t self_ns) {
  return correction.ns > self_ns && correction.ns != 0;
}

std::string correction_text(const Correction& correction, std::uint64_t self_ns) {
  return fmt::format("{} +-{}{}", time_text(correction.ns), time_text(correction.error_ns),
                     is_distorted(correction, self_ns) ? " !" : "  ");
}

std::string subgraph_lines(const Profile& profile) {
  const Subgraph& s = profile.recording.subgraph;
  if (!s.is_on()) return "";
  std::string text =
      fmt::format("Changed   {} methods in {} classes{}, in {} batches", grouped(s.methods), grouped(s.classes),
                  s.followed == 0 ? "" : fmt::format(" and followed {} more", grouped(s.followed)), grouped(s.batches));
  text += fmt::format(": {} together, 99 % within {}, {} at most\n", time_text(s.batch_ns), time_text(s.batch_p99_ns),
                      time_text(s.batch_max_ns));
  text += fmt::format("Paused    {} for that, 99 % within {}, {} at most\n", time_text(s.paused_ns),
                      time_text(s.paused_p99_ns), time_text(s.paused_max_ns));
  if (s.waited_ns != 0)
    text += fmt::format("Waited    {} by threads until what they called was instrumented; no time has it\n",
                        time_text(s.waited_ns));
  if (s.time == "off" || s.scheme == "region") return text;
  const Overall overall = overall_of(profile);
  text += fmt::format("Corrected {} +-{} taken off: a call costs {} inside and {} outside of its time\n",
                      time_text(overall.correction.ns), time_text(overall.correction.error_ns),
                      cost_text(s.inner_ps, s.inner_error_ps), cost_text(s.outer_ps, s.outer_error_ps));
  for (const RootCalls& root : profile.roots) {
    if (root.all_bare != 0) text += bare_text(root, profile);
  }
  if (overall.distorted != 0)
    text += fmt::format(
        "Distorted {} methods, marked with !: their own time is less than what was taken off it, so it says little\n",
        grouped(overall.distorted));
  return text;
}

std::string roots_text(const Profile& profile, const Console& console) {
  if (profile.roots.empty()) return "";
  Table table({"calls", "exceptions", "p50", "p99", "min", "max", "total", "root"});
  for (const RootCalls& root : profile.roots) {
    const auto time = [&](std::uint64_t ns) { return root.timed == 0 ? std::string("-") : time_text(ns); };
    table.add({grouped(root.calls), grouped(root.exceptions), time(root.time_at(0.5)), time(root.time_at(0.99)),
               time(root.least_ns), time(root.most_ns), time(root.time_ns), profile.display_name(root.method)});
  }
  return table.text(console);
}

nlohmann::ordered_json subgraph_json(const Profile& profile) {
  const Subgraph& s = profile.recording.subgraph;
  nlohmann::ordered_json json = {{"scheme", s.scheme},
                                 {"time", s.time},
                                 {"methods", s.methods},
                                 {"followed", s.followed},
                                 {"classes", s.classes},
                                 {"batches", s.batches},
                                 {"batch_ns", s.batch_ns},
                                 {"batch_p99_ns", s.batch_p99_ns},
                                 {"batch_max_ns", s.batch_max_ns},
                                 {"paused_ns", s.paused_ns},
                                 {"paused_p99_ns", s.paused_p99_ns},
                                 {"paused_max_ns", s.paused_max_ns},
                                 {"waited_ns", s.waited_ns},
                                 {"inner_ps", s.inner_ps},
                                 {"inner_error_ps", s.inner_error_ps},
                                 {"outer_ps", s.outer_ps},
                                 {"outer_error_ps", s.outer_error_ps}};
  if (s.time != "off" && s.scheme != "region") {
    const Overall overall = overall_of(profile);
    json["corrected_ns"] = overall.correction.ns;
    json["corrected_error_ns"] = overall.correction.error_ns;
    json["distorted_methods"] = overall.distorted;
  }
  json["roots"] = nlohmann::ordered_json::array();
  for (const RootCalls& root : profile.roots) {
    nlohmann::ordered_json of_root = {{"name", profile.full_name(root.method)},
                                      {"calls", root.calls},
                                      {"exceptions", root.exceptions},
                                      {"timed", root.timed},
                                      {"time_ns", root.time_ns},
                                      {"min_ns", root.least_ns},
                                      {"p50_ns", root.time_at(0.5)},
                                      {"p99_ns", root.time_at(0.99)},
                                      {"max_ns", root.most_ns},
                                      {"all_bare", root.all_bare},
                                      {"bare", root.bare},
                                      {"bare_ns", root.bare_ns},
                                      {"bare_error_ns", root.bare_error_ns},
                                      {"cost_percent", root.cost_percent}};
    of_root["last"] = nlohmann::ordered_json::array();
    for (const RootCalls::Call& call : root.last)
      of_root["last"].push_back({{"start_ns", call.start_ns}, {"time_ns", call.time_ns}});
    json["roots"].push_back(std::move(of_root));
  }
  return json;
}

}  // namespace sonde::cli
