// SPDX-License-Identifier: Apache-2.0
// `sonde run`: starts a JVM with the agent in it and turns what it leaves behind into a recording.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "cli/modes.h"

namespace sonde::cli {

struct RunOptions {
  std::string mode = "exact";
  std::string out;  // "": named after the program
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  std::string blocks = "precise";  // or "default": whole blocks (papers/001)
  std::string scheme = "sites";    // or "paper": that of papers/001, for comparison
  bool no_jdk = false;
  bool no_class_cache = false;
  std::string clock = "auto";   // or "perf", "trap", "timer"
  std::string walker = "auto";  // or "agct": stacks by AsyncGetCallTrace
  std::string memory = "8G";
  std::uint32_t max_depth = 0;  // 0: no limit
  bool fold_recursion = false;
  std::string intrinsics = "calls";  // or "count": what happens inside them
  bool follow = false;               // record JVMs that the program starts, too
  std::string weights;               // a file: what each bytecode counts; "": one
  std::string agent_class;           // a profiling agent of the user; "": none
  std::string agent_path;            // jars and folders that have it, separated by colons
  std::string agent_limit = "10s";   // how long one call of it may take
  std::vector<std::string> command;
};

// Returns the child's exit code, or 128 + the signal that ended it.
int run_program(const RunOptions& options, const Console& console);

// What the agent reads in the folder of a recording (src/agent/session/options.h).
std::string options_for_agent(const RunOptions& options, const Modes& modes);

// "512M", "8G", "1000000". 0 if it makes no sense.
std::uint64_t parse_size(const std::string& text);

}  // namespace sonde::cli
