// SPDX-License-Identifier: Apache-2.0
#include "cli/recording_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "classfile/opcode_weights.h"
#include "profile/metric.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

std::string_view help_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound: return "`sonde run -o NAME.sonde -- java ...` makes a recording.";
    case ErrorCode::kIo: return "Check that it can be read by this user; recordings are private to who made them.";
    case ErrorCode::kUnsupported: return "`sonde --version` shows which Sonde this is.";
    case ErrorCode::kTruncated:
    case ErrorCode::kMalformed:
      return "Give a NAME.sonde file or NAME.sonde.live folder. If it is one, it was damaged after it was made: copy "
             "or "
             "record it again.";
    case ErrorCode::kInvalidArgument: return "Give a NAME.sonde file or NAME.sonde.live folder.";
    default: return {};
  }
}

std::string_view severity_word(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::loss: return "loss";
    case Severity::error: return "error";
  }
  return "";
}

std::string sampling_text(const profile::Sampling& sampling) {
  std::string text = "every " + grouped(sampling.granularity);
  if (sampling.jitter != 0) text += " to " + grouped(sampling.granularity + sampling.jitter - 1);
  text += sampling.weights.empty() ? " bytecodes" : " weighed bytecodes";
  if (sampling.jitter != 0) text += ", seed " + std::to_string(sampling.seed);
  if (sampling.max_path != 0) text += ", contexts of " + grouped(sampling.max_path) + " frames at most";
  return text + "; the sum of bytecodes is exact, those of a context are its share by samples";
}

std::string weights_text(const profile::Sampling& sampling) {
  const auto weights = classfile::OpcodeWeights::parse(sampling.weights);
  const std::string name = weights.ok() && !weights->name().empty() ? weights->name() : "(without a name)";
  return on_one_line(name) + "; numbers of bytecodes are weighed by them";
}

}  // namespace

// A process that has ended but was not waited for yet still has its number; the state behind its name is then Z.
bool is_alive(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  if (pid == 0 || !std::getline(file, stat)) return false;
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") Z") != 0;
}

std::optional<profile::Profile> open_recording(const std::string& path, const Console& console) {
  Result<profile::Profile> profile = store::open(path);
  if (profile.ok()) return std::move(profile).value();
  console.fail(path, profile.error(), help_for(profile.error()));
  return std::nullopt;
}

Liveness liveness_of(const profile::Recording& recording) {
  if (recording.state == profile::State::kEnded) {
    return {"ended", recording.is_attached ? "complete: the recording ended in good order"
                                           : "complete: the JVM ended in good order"};
  }
  if (recording.is_live && is_alive(recording.pid)) {
    return {"running", fmt::format("still running (pid {}); numbers are those of this moment", recording.pid)};
  }
  if (recording.state == profile::State::kStarting) return {"killed", "the JVM stopped before it was ready"};
  return {"killed", "the JVM was killed or crashed; everything it counted until then is here"};
}

std::optional<std::chrono::duration<double>> duration_of(const profile::Recording& recording) {
  if (recording.end_ns <= recording.start_ns) return std::nullopt;
  return std::chrono::nanoseconds(recording.end_ns - recording.start_ns);
}

std::string losses_of(const profile::Profile& profile) {
  std::string text;
  for (const profile::CounterValue& counter : profile.counters) {
    text += fmt::format("{:<8}  {} {}\n", severity_word(counter.severity), grouped(counter.value), counter.sentence);
  }
  const profile::Recording& recording = profile.recording;
  if (recording.damage_count != 0) {
    text += fmt::format("{:<8}  {} places of the arena are damaged and left out, the first: {}\n", "error",
                        grouped(recording.damage_count),
                        recording.damage_notes.empty() ? "unknown" : recording.damage_notes.front());
  }
  return text;
}

std::string recording_header(const profile::Profile& profile) {
  const profile::Recording& r = profile.recording;
  const auto duration = duration_of(r);
  const std::time_t start = static_cast<std::time_t>(r.start_ns / 1'000'000'000);
  std::string text = fmt::format("Program   {}\nJDK       {}\n", on_one_line(r.command), on_one_line(r.jdk));
  text += fmt::format("Recorded  {:%Y-%m-%d %H:%M:%S} UTC{}, mode {}", fmt::gmtime(start),
                      duration ? ", " + seconds(*duration) : "", r.mode);
  if (r.is_counted()) {
    text +=
        fmt::format("{}{}", r.is_precise ? ", precise" : "", r.includes_jdk ? ", JDK included" : ", without the JDK");
  }
  text += "\n";
  if (r.is_attached) {
    text += "Attached  while the program ran";
    text +=
        r.is_counted() ? ": what was running then is not counted, what it called is at the root of its thread\n" : "\n";
  }
  if (r.sampling.is_on()) text += "Sampled   " + sampling_text(r.sampling) + "\n";
  if (!r.sampling.weights.empty()) text += "Weights   " + weights_text(r.sampling) + "\n";
  text += fmt::format("State     {}\n", liveness_of(r).sentence);
  return text + losses_of(profile);
}

nlohmann::ordered_json amounts_json(const profile::Amounts& amounts) {
  nlohmann::ordered_json json;
  for (const profile::MetricInfo& info : profile::kMetrics) {
    // Calls and bytecodes are always there, also if they are zero; the rest only if there is any.
    const bool is_basic = info.metric == profile::Metric::kCalls || info.metric == profile::Metric::kBytecodes;
    if (!is_basic && amounts.of(info.metric) == 0) continue;
    json[std::string(info.name)] = amounts.of(info.metric);
  }
  return json;
}

nlohmann::ordered_json recording_json(const profile::Profile& profile) {
  const profile::Recording& r = profile.recording;
  nlohmann::ordered_json json = {{"command", r.command},
                                 {"jdk", r.jdk},
                                 {"pid", r.pid},
                                 {"mode", r.mode},
                                 {"precise", r.is_precise},
                                 {"jdk_included", r.includes_jdk},
                                 {"state", liveness_of(r).word},
                                 {"start_ns", r.start_ns}};
  if (r.sampling.is_on()) {
    json["sampling"] = {{"granularity", r.sampling.granularity},
                        {"jitter", r.sampling.jitter},
                        {"seed", r.sampling.seed},
                        {"maxpath", r.sampling.max_path}};
    if (!r.sampling.weights.empty()) json["sampling"]["weights"] = r.sampling.weights;
  }
  if (const auto duration = duration_of(r)) json["duration_s"] = duration->count();
  json["counters"] = nlohmann::ordered_json::array();
  for (const profile::CounterValue& counter : profile.counters) {
    json["counters"].push_back({{"id", counter.id},
                                {"name", counter.name},
                                {"value", counter.value},
                                {"severity", severity_word(counter.severity)},
                                {"sentence", counter.sentence}});
  }
  json["damage"] = {{"count", r.damage_count}, {"notes", r.damage_notes}};
  return json;
}

}  // namespace sonde::cli
