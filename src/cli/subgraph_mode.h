// SPDX-License-Identifier: Apache-2.0
// `--mode subgraph:root=PATTERN[,root=…][,scheme=a|b][,time=wall|cpu|off][,jdk=off|follow|on][,bytecodes=on]
// [,bare=TIME|off][,ahead=far|off][,wait=off]` and `--mode region:PATTERN`: what is to be measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

struct SubgraphMode {
  std::vector<std::string> roots;
  std::string scheme = "b";  // "region": the roots alone
  std::string time = "wall";
  std::string jdk = "off";
  std::string bytecodes = "off";
  std::string bare = "auto";
  std::string ahead = "near";
  std::string wait = "on";

  [[nodiscard]] std::string name() const { return scheme == "region" ? scheme : "subgraph"; }
};

Result<SubgraphMode> parse_subgraph_mode(std::string_view settings);
Result<SubgraphMode> parse_region_mode(std::string_view pattern);

// For how long roots run bare if nobody says, and for how much longer if the JVM has to compile so much again.
struct BareTime {
  std::uint64_t ns = 0;
  std::uint64_t settle_ns = 0;
};
// A JVM that runs is warm, so what its roots take says something. With a duration, half of that and more is left; 0:
// none.
BareTime bare_time(std::uint64_t duration_ns);

// What to tell somebody who waits for the first call tree; empty if there is nothing to wait for.
std::string bare_notice(const SubgraphMode& mode, const BareTime& bare);

// As the agent reads it: keys and values.
std::vector<std::pair<std::string, std::string>> settings_for_agent(const SubgraphMode& mode, const BareTime& bare);

}  // namespace sonde::cli
