// SPDX-License-Identifier: Apache-2.0
// What the host tells the agent: the agent's argument is the folder of the recording, in which the file `options` has
// one "key value" per line. (JVM option strings are no place for paths and patterns.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace sonde::agent {

struct Options {
  std::string folder;
  std::string command;                 // what runs, for people
  bool flat = false;                   // counts per method and thread, no contexts
  bool exact = true;                   // count calls and bytecodes
  std::uint64_t cpu_interval_ns = 0;   // between samples of a thread's CPU time; 0: none
  std::uint64_t wall_interval_ns = 0;  // between samples of all threads; 0: none
  std::string clock;                   // "timer": no perf events
  std::string walker;                  // "agct": AsyncGetCallTrace even if the JVM's layout is known
  bool precise = true;
  bool jdk = true;                    // count inside the JDK's classes
  std::uint64_t memory = 8ULL << 30;  // how far the arena may grow
  std::vector<std::string> include;   // class name patterns: "com.acme.*"; none: all
  std::vector<std::string> exclude;
};

Result<Options> read_options(const std::string& folder);

}  // namespace sonde::agent
