// SPDX-License-Identifier: Apache-2.0
#include "cli/subgraph_mode.h"

#include <algorithm>
#include <charconv>

namespace sonde::cli {
namespace {

struct Setting {
  std::string_view name;
  std::string SubgraphMode::*value;
  std::vector<std::string_view> choices;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"scheme", &SubgraphMode::scheme, {"a", "b"}},        {"time", &SubgraphMode::time, {"wall", "cpu", "off"}},
      {"jdk", &SubgraphMode::jdk, {"off", "follow", "on"}}, {"bytecodes", &SubgraphMode::bytecodes, {"on", "off"}},
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
  if (name == "bare") {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = error == std::errc() && end == value.data() + value.size();
    if (value != "off" && (!is_number || number < 2 || number > 1'000'000))
      return invalid("bare is off or a number from 2 to 1000000, not `" + std::string(value) + "`");
    mode.bare = value;
    return {};
  }
  for (const Setting& setting : settings()) {
    if (setting.name != name) continue;
    if (std::ranges::find(setting.choices, value) == setting.choices.end())
      return invalid(std::string(name) + " is one of " + joined(setting.choices) + ", not `" + std::string(value) +
                     "`");
    mode.*setting.value = value;
    return {};
  }
  return invalid("`" + std::string(name) +
                 "` is no setting of mode subgraph; there are root, scheme, time, jdk, bytecodes, bare and wait");
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
  if (mode.bare != "off" && mode.time == "off") return invalid("bare= says what calls take bare: it needs a clock");
  return mode;
}

Result<SubgraphMode> parse_region_mode(std::string_view pattern) {
  if (pattern.empty()) return invalid("mode region needs a method: region:com.acme.Shop.checkout");
  SubgraphMode mode;
  mode.roots.emplace_back(pattern);
  mode.scheme = "region";
  return mode;
}

std::vector<std::pair<std::string, std::string>> settings_for_agent(const SubgraphMode& mode) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& root : mode.roots) settings.emplace_back("subgraph-root", root);
  settings.emplace_back("subgraph-scheme", mode.scheme);
  settings.emplace_back("subgraph-time", mode.time);
  settings.emplace_back("subgraph-jdk", mode.jdk);
  settings.emplace_back("subgraph-bytecodes", mode.bytecodes == "on" ? "1" : "0");
  settings.emplace_back("subgraph-bare", mode.bare == "off" ? "0" : mode.bare);
  settings.emplace_back("subgraph-wait", mode.wait == "on" ? "1" : "0");
  return settings;
}

}  // namespace sonde::cli
