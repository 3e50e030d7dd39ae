// SPDX-License-Identifier: Apache-2.0
// JVMs that run on this machine, as /proc shows them: those of this user, for root those of all; in containers, too.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

struct RunningJvm {
  pid_t pid = 0;
  pid_t inner_pid = 0;  // its number in its own namespace
  uid_t user = 0;
  std::string root;     // what to put in front of its paths: "" or "/proc/PID/root"
  std::string library;  // libjvm.so, in its own view
  std::string version;  // "25.0.3"; "" if unknown
  std::string main;     // main class or jar
  std::string agent;    // libsonde.so that it has loaded, in its own view; "": none
  std::vector<std::string> arguments;
  std::vector<std::string> arenas;  // of recordings that it writes, in its own view (live_recording.h)

  [[nodiscard]] int major_version() const;
  [[nodiscard]] std::filesystem::path java_home() const;  // as this process sees it
  [[nodiscard]] std::string tmp() const { return root + "/tmp"; }
};

// Notes what a line of /proc/PID/maps tells.
void add_mapping(RunningJvm& jvm, const std::string& line);

// In order of their numbers.
std::vector<RunningJvm> find_jvms();

// By number, or by a part of the main class or jar that only one has.
Result<RunningJvm> find_jvm(const std::string& pid_or_name);

// Main class or jar among the arguments of `java`; "" if there is none.
std::string main_of(const std::vector<std::string>& arguments);

}  // namespace sonde::cli
