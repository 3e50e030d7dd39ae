// SPDX-License-Identifier: Apache-2.0
// What the host tells the agent: the agent's argument is the folder of the recording, in which the file `options` has
// one "key value" per line. (JVM option strings are no place for paths and patterns.) A process that was started by a
// recorded one (--follow) has "follow:" and the folder of that one as its argument; it makes a folder of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/session/sampling_options.h"
#include "agent/session/subgraph_options.h"
#include "base/result.h"

namespace sonde::agent {

struct Options {
  std::string folder;
  std::string list_folder;             // where the list of known methods is
  bool is_followed = false;            // this process was started by a recorded one
  bool is_attached = false;            // the JVM ran already when the recording began
  std::string own_name;                // for those: their folders are this, their process number and ".sonde.live"
  std::string java_home;               // the JDK that the list of known methods is of
  std::string command;                 // what runs, for people
  bool flat = false;                   // counts per method and thread, no contexts
  bool exact = true;                   // count calls and bytecodes
  std::uint64_t cpu_interval_ns = 0;   // between samples of a thread's CPU time; 0: none
  std::uint64_t wall_interval_ns = 0;  // between samples of all threads; 0: none
  bool native = false;                 // samples with frames outside of Java
  std::string clock;                   // "timer": no perf events; "perf": none that send SIGTRAP; "trap": such
  std::string walker;                  // "agct": AsyncGetCallTrace even if the JVM's layout is known
  bool precise = true;
  bool heap_tree = false;       // the scheme of papers/001, for comparison
  std::uint32_t max_depth = 0;  // of call trees; 0: no limit
  bool fold_recursion = false;
  bool count_intrinsics = false;  // the JVM was told to run their bytecode
  std::string follow;  // what JAVA_TOOL_OPTIONS must have for child processes to be recorded; "": leave them alone
  bool jdk = true;     // count inside the JDK's classes
  std::uint64_t memory = 8ULL << 30;  // how far the arena may grow
  std::vector<std::string> include;   // class name patterns: "com.acme.*"; none: all
  std::vector<std::string> exclude;
  std::string class_cache;  // a file with instrumented classes of the JDK (class_cache.h); "": none
  SamplingOptions sampling;
  std::string agent_class;                // a profiling agent of the user; "": none
  std::string agent_path;                 // jars and folders where it is, separated by colons
  std::string agent_api;                  // sonde-api.jar
  std::uint64_t agent_limit_ms = 10'000;  // how long one call of it may take

  [[nodiscard]] bool has_agent() const { return !agent_class.empty(); }
  SubgraphOptions subgraph;
};

Result<Options> read_options(const std::string& argument);

// One of its lines. False if there is no such option.
bool set_option(Options& options, const std::string& key, const std::string& value);

// For a process that is_followed. Its JDK must be the one that the list of known methods was made from.
Result<void> make_own_folder(Options& options, const std::string& java_home);

}  // namespace sonde::agent
