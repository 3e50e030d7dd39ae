// SPDX-License-Identifier: Apache-2.0
// A recording in a JVM that runs, seen from the host: the agent is brought in if it is not there yet, and told what to
// record. It goes on as long as this object lives and renew() is called; the agent cleans up when the host is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "cli/jvms.h"
#include "cli/modes.h"
#include "cli/run_command.h"
#include "control/line_channel.h"
#include "control/socket_place.h"

namespace sonde::cli {

// A connection to the agent in a JVM; kNotFound if there is none.
Result<control::LineChannel> connect_to_agent(const RunningJvm& jvm);
// The same; the agent is loaded if it is not there. Says what the JVM will say about it.
Result<control::LineChannel> bring_agent(const RunningJvm& jvm, const Console& console);

// Removes the sockets of JVMs that were killed.
void forget_dead_agents(const std::string& tmp, uid_t user);

// The lines that start modes: "start cpu cpu=10000000". `duration_ns`: how long they will be on, 0 if nobody knows.
std::vector<std::string> start_lines(const Modes& modes, std::uint64_t duration_ns = 0);
// "cpu", "exact:flat": the names of modes.
std::vector<std::string> mode_names(const Modes& modes);

class AttachedRecording {
 public:
  // The folder is made next to `out`, or where the JVM can reach it.
  static Result<AttachedRecording> begin(const RunningJvm& jvm, const RunOptions& options,
                                         const std::filesystem::path& out, const Console& console,
                                         std::uint64_t duration_ns = 0);

  // A path by which it can be read, also when the JVM is gone.
  [[nodiscard]] std::filesystem::path folder() const { return control::path_in(folder_); }
  [[nodiscard]] control::LineChannel& agent() { return agent_; }

  // False if the JVM has ended.
  bool renew();
  // Ends it in the JVM, if that is still there. What was recorded is in the folder.
  Result<void> end();
  void remove_folder();

 private:
  AttachedRecording(control::LineChannel agent, control::Descriptor folder, std::filesystem::path place)
      : agent_(std::move(agent)), folder_(std::move(folder)), place_(std::move(place)) {}

  control::LineChannel agent_;
  control::Descriptor folder_;
  std::filesystem::path place_;  // the folder's name
};

}  // namespace sonde::cli
