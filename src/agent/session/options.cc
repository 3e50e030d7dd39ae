// SPDX-License-Identifier: Apache-2.0
#include "agent/session/options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

namespace sonde::agent {
namespace {

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

bool set_subgraph(SubgraphOptions& options, const std::string& key, const std::string& value) {
  using arena::SubgraphScheme;
  using arena::SubgraphTime;
  if (key == "subgraph-root") {
    options.roots.push_back(value);
  } else if (key == "subgraph-scheme") {
    options.scheme = value == "region" ? SubgraphScheme::kRegion
                     : value == "a"    ? SubgraphScheme::kEager
                                       : SubgraphScheme::kLazy;
  } else if (key == "subgraph-time") {
    options.time = value == "off" ? SubgraphTime::kNone : value == "cpu" ? SubgraphTime::kCpu : SubgraphTime::kWall;
  } else if (key == "subgraph-jdk") {
    options.jdk = value == "follow" ? JdkMethods::kFollowed
                  : value == "on"   ? JdkMethods::kMeasured
                                    : JdkMethods::kOpaque;
  } else if (key == "subgraph-bytecodes") {
    options.bytecodes = value == "1";
  } else if (key == "subgraph-bare") {
    options.bare_ns = number(value);
  } else if (key == "subgraph-settle") {
    options.settle_ns = number(value);
  } else if (key == "subgraph-ahead") {
    options.ahead = value == "off" ? Ahead::kOff : value == "far" ? Ahead::kFar : Ahead::kNear;
  } else if (key == "subgraph-wait") {
    options.wait = value == "1";
  } else {
    return false;
  }
  return true;
}

Result<void> read_weights(const std::string& path, SamplingOptions& sampling) {
  std::ifstream file(path, std::ios::binary);
  sampling.weights_text.assign(std::istreambuf_iterator<char>(file), {});
  sampling.weights = TRY(classfile::OpcodeWeights::parse(sampling.weights_text));
  return {};
}

}  // namespace

bool set_option(Options& options, const std::string& key, const std::string& value) {
  if (key == "command") {
    options.command = value;
  } else if (key == "exact") {
    options.exact = value != "0";
    options.flat = value == "flat";
  } else if (key == "cpu") {
    options.cpu_interval_ns = std::strtoull(value.c_str(), nullptr, 10);
  } else if (key == "wall") {
    options.wall_interval_ns = std::strtoull(value.c_str(), nullptr, 10);
  } else if (key == "native") {
    options.native = value == "1";
  } else if (key == "clock") {
    options.clock = value;
  } else if (key == "walker") {
    options.walker = value;
  } else if (key == "precise") {
    options.precise = value == "1";
  } else if (key == "max-depth") {
    options.max_depth = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  } else if (key == "fold-recursion") {
    options.fold_recursion = value == "1";
  } else if (key == "count-intrinsics") {
    options.count_intrinsics = value == "1";
  } else if (key == "follow") {
    options.follow = value;
  } else if (key == "own-name") {
    options.own_name = value;
  } else if (key == "java-home") {
    options.java_home = value;
  } else if (key == "scheme") {
    options.heap_tree = value == "paper";
  } else if (key == "jdk") {
    options.jdk = value == "1";
  } else if (key == "memory") {
    options.memory = number(value);
  } else if (key == "granularity") {
    options.sampling.granularity = number(value);
  } else if (key == "jitter") {
    options.sampling.jitter = number(value);
  } else if (key == "seed") {
    options.sampling.seed = number(value);
  } else if (key == "context") {
    options.sampling.context = value == "jvm"         ? instrument::ContextFrom::kJvm
                               : value == "hash"      ? instrument::ContextFrom::kHash
                               : value == "jvm-trap"  ? instrument::ContextFrom::kJvmByTrap
                               : value == "hash-trap" ? instrument::ContextFrom::kHashByTrap
                                                      : instrument::ContextFrom::kShadowStack;
  } else if (key == "maxpath") {
    options.sampling.max_path = static_cast<std::uint32_t>(number(value));
  } else if (key == "class-cache") {
    options.class_cache = value;
  } else if (key == "agent-class") {
    options.agent_class = value;
  } else if (key == "agent-path") {
    options.agent_path = value;
  } else if (key == "agent-api") {
    options.agent_api = value;
  } else if (key == "agent-limit") {
    options.agent_limit_ms = number(value);
  } else if (key.starts_with("subgraph-")) {
    return set_subgraph(options.subgraph, key, value);
  } else if (key == "include") {
    options.include.push_back(value);
  } else if (key == "exclude") {
    options.exclude.push_back(value);
  } else {
    return false;
  }
  return true;
}

Result<Options> read_options(const std::string& argument) {
  constexpr std::string_view kFollow = "follow:";
  Options options;
  options.is_followed = argument.starts_with(kFollow);
  const std::string folder = options.is_followed ? argument.substr(kFollow.size()) : argument;
  options.folder = folder;
  options.list_folder = folder;
  const std::string path = folder + "/options";
  std::ifstream file(path);
  if (!file)
    return Error{
        ErrorCode::kIo, "cannot read it; is this the folder that `sonde run` made?", {.path = path, .byte_offset = {}}};
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "weights") {
      TRY(read_weights(folder + "/weights", options.sampling));
    } else if (!key.empty() && !set_option(options, key, value)) {
      return Error{ErrorCode::kUnsupported,
                   "unknown option `" + key + "`; host and agent are of different versions",
                   {.path = path, .byte_offset = {}}};
    }
  }
  return options;
}

Result<void> make_own_folder(Options& options, const std::string& java_home) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(java_home.c_str(), nullptr), std::free);
  if (real == nullptr || options.java_home != real.get()) {
    return Error{ErrorCode::kUnsupported,
                 "is not the JDK of the process that --follow began with, " + options.java_home,
                 {.path = java_home, .byte_offset = {}}};
  }
  options.folder = options.own_name + "." + std::to_string(getpid()) + ".sonde.live";
  if (mkdir(options.folder.c_str(), 0700) == 0) return {};
  return Error{ErrorCode::kIo,
               "cannot be created: " + std::string(std::strerror(errno)),
               {.path = options.folder, .byte_offset = {}}};
}

}  // namespace sonde::agent
