// SPDX-License-Identifier: Apache-2.0
// `--mode
// subgraph:root=PATTERN[,root=…][,scheme=a|b][,time=wall|cpu|off][,jdk=off|follow|on][,bytecodes=on][,wait=off]` and
// `--mode region:PATTERN`: what `sonde run` was asked to measure.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

struct SubgraphMode {
  std::vector<std::string> roots;
  std::string scheme = "b";  // "region": the roots alone
  std::string time = "wall";
  std::string jdk = "off";
  std::string bytecodes = "off";
  std::string wait = "on";
};

Result<SubgraphMode> parse_subgraph_mode(std::string_view settings);
Result<SubgraphMode> parse_region_mode(std::string_view pattern);

// As the agent reads it.
void write_options(std::ostream& out, const SubgraphMode& mode);

}  // namespace sonde::cli
