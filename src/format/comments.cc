// SPDX-License-Identifier: Apache-2.0
#include "format/comments.h"

#include <charconv>
#include <utility>

namespace sonde::format {
namespace {

const std::string kMode = "sonde, mode ";
const std::string kProgram = "program: ";
const std::string kJdk = "JDK: ";

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::loss: return "loss";
    case Severity::error: return "error";
  }
  return "";
}

}  // namespace

std::vector<std::string> losses_of(const profile::Profile& profile) {
  std::vector<std::string> lines;
  for (const profile::CounterValue& counter : profile.counters) {
    lines.push_back(std::string(word_of(counter.severity)) + ": " + counter.name + " " + std::to_string(counter.value) +
                    ": " + counter.sentence);
  }
  if (const std::uint64_t damage = profile.recording.damage_count; damage != 0) {
    lines.push_back("error: " + std::to_string(damage) + " places of the arena are damaged and left out");
  }
  return lines;
}

std::vector<std::string> comments_of(const profile::Profile& profile) {
  const profile::Recording& recording = profile.recording;
  std::vector<std::string> lines = {kMode + recording.mode};
  if (!recording.command.empty()) lines.push_back(kProgram + recording.command);
  if (!recording.jdk.empty()) lines.push_back(kJdk + recording.jdk);
  for (std::string& loss : losses_of(profile)) lines.push_back(std::move(loss));
  return lines;
}

namespace {

// "MethodsTooLarge 3: methods left as they were because …"
void read_counter(std::string_view text, profile::Profile& profile) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return;
  for (const CounterInfo& info : kCounters) {
    std::uint64_t value = 0;
    if (info.name != text.substr(0, space)) continue;
    const auto [end, error] = std::from_chars(text.data() + space + 1, text.data() + text.size(), value);
    if (error == std::errc() && end != text.data() + text.size() && *end == ':') {
      profile.counters.push_back(profile::counter_value(info.id, value));
    }
  }
}

}  // namespace

void read_comment(std::string_view line, profile::Profile& profile) {
  profile::Recording& recording = profile.recording;
  for (const auto& [start, text] : {std::pair{&kMode, &recording.mode}, std::pair{&kProgram, &recording.command},
                                    std::pair{&kJdk, &recording.jdk}}) {
    if (line.starts_with(*start)) *text = line.substr(start->size());
  }
  for (const Severity severity : {Severity::info, Severity::loss, Severity::error}) {
    const std::string start = std::string(word_of(severity)) + ": ";
    if (line.starts_with(start)) read_counter(line.substr(start.size()), profile);
  }
}

}  // namespace sonde::format
