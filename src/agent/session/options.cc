// SPDX-License-Identifier: Apache-2.0
#include "agent/session/options.h"

#include <cstdlib>
#include <fstream>

namespace sonde::agent {

Result<Options> read_options(const std::string& folder) {
  Options options;
  options.folder = folder;
  const std::string path = folder + "/options";
  std::ifstream file(path);
  if (!file)
    return Error{
        ErrorCode::kIo, "cannot read it; is this the folder that `sonde run` made?", {.path = path, .byte_offset = {}}};
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "command") {
      options.command = value;
    } else if (key == "exact") {
      options.exact = value != "0";
      options.flat = value == "flat";
    } else if (key == "cpu") {
      options.cpu_interval_ns = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "wall") {
      options.wall_interval_ns = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "clock") {
      options.clock = value;
    } else if (key == "walker") {
      options.walker = value;
    } else if (key == "precise") {
      options.precise = value == "1";
    } else if (key == "jdk") {
      options.jdk = value == "1";
    } else if (key == "memory") {
      options.memory = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "include") {
      options.include.push_back(value);
    } else if (key == "exclude") {
      options.exclude.push_back(value);
    } else if (!key.empty()) {
      return Error{ErrorCode::kUnsupported,
                   "unknown option `" + key + "`; host and agent are of different versions",
                   {.path = path, .byte_offset = {}}};
    }
  }
  return options;
}

}  // namespace sonde::agent
