// SPDX-License-Identifier: Apache-2.0
#include "cli/subgraph_mode.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/modes.h"

namespace sonde::cli {
namespace {

struct Setting {
  std::string_view name;
  std::string SubgraphMode::*value;
  std::vector<std::string_view> choices;
  bool may_be_time = false;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"scheme", &SubgraphMode::scheme, {"a", "b"}},
      {"time", &SubgraphMode::time, {"wall", "cpu", "off"}},
      {"jdk", &SubgraphMode::jdk, {"off", "follow", "on"}},
      {"bytecodes", &SubgraphMode::bytecodes, {"on", "off"}},
      {.name = "bare", .value = &SubgraphMode::bare, .choices = {"auto", "off"}, .may_be_time = true},
      {"ahead", &SubgraphMode::ahead, {"near", "far", "off"}},
      {"wait", &SubgraphMode::wait, {"on", "off"}},
  };
  return all;
}

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

Result<void> set(SubgraphMode& mode, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (name == "root") {
    if (value.empty()) return invalid("root= needs a method: root=com.acme.Shop.checkout");
    mode.roots.emplace_back(value);
    return {};
  }
  for (const Setting& setting : settings()) {
    if (setting.name != name) continue;
    const bool is_time = setting.may_be_time && parse_duration_ns(std::string(value)) != 0;
    if (!is_time && std::ranges::find(setting.choices, value) == setting.choices.end())
      return invalid(std::string(name) + " is one of " + joined(setting.choices) +
                     (setting.may_be_time ? " or a time such as 2s" : "") + ", not `" + std::string(value) + "`");
    mode.*setting.value = value;
    return {};
  }
  return invalid(
      "`" + std::string(name) +
      "` is no setting of mode subgraph; there are root, scheme, time, jdk, bytecodes, bare, ahead and wait");
}

BareTime time_of(const SubgraphMode& mode, const BareTime& if_not_said) {
  return mode.bare == "auto" ? if_not_said : BareTime{.ns = parse_duration_ns(mode.bare)};  // 0 for off
}

}  // namespace

Result<SubgraphMode> parse_subgraph_mode(std::string_view rest) {
  SubgraphMode mode;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    TRY(set(mode, rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  if (mode.roots.empty()) return invalid("mode subgraph needs a root: subgraph:root=com.acme.Shop.checkout");
  return mode;
}

Result<SubgraphMode> parse_region_mode(std::string_view pattern) {
  if (pattern.empty()) return invalid("mode region needs a method: region:com.acme.Shop.checkout");
  SubgraphMode mode;
  mode.roots.emplace_back(pattern);
  mode.scheme = "region";
  return mode;
}

BareTime bare_time(std::uint64_t duration_ns) {
  constexpr BareTime kLongest{.ns = 4'000'000'000, .settle_ns = 16'000'000'000};
  if (duration_ns == 0) return kLongest;
  return {.ns = std::min(kLongest.ns, duration_ns / 5),
          .settle_ns = std::min(kLongest.settle_ns, duration_ns * 3 / 10)};
}

std::string bare_notice(const SubgraphMode& mode, const BareTime& bare) {
  const BareTime time = time_of(mode, bare);
  if (mode.scheme == "region" || mode.time == "off" || time.ns == 0) return "";
  const auto seconds = [](std::uint64_t ns) { return fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9); };
  return "roots run bare for " + seconds(time.ns) +
         (time.settle_ns == 0 ? ""
                              : ", or up to " + seconds(time.ns + time.settle_ns) + " while the JVM compiles much") +
         "; then what they call is measured (bare=off: at once)";
}

std::vector<std::pair<std::string, std::string>> settings_for_agent(const SubgraphMode& mode, const BareTime& bare) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& root : mode.roots) settings.emplace_back("subgraph-root", root);
  settings.emplace_back("subgraph-scheme", mode.scheme);
  settings.emplace_back("subgraph-time", mode.time);
  settings.emplace_back("subgraph-jdk", mode.jdk);
  settings.emplace_back("subgraph-bytecodes", mode.bytecodes == "on" ? "1" : "0");
  const BareTime time = time_of(mode, bare);
  settings.emplace_back("subgraph-bare", std::to_string(time.ns));
  settings.emplace_back("subgraph-settle", std::to_string(time.settle_ns));
  settings.emplace_back("subgraph-ahead", mode.ahead);
  settings.emplace_back("subgraph-wait", mode.wait == "on" ? "1" : "0");
  return settings;
}

}  // namespace sonde::cli
