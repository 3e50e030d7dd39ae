// SPDX-License-Identifier: Apache-2.0
// Commands for JVMs that run: `sonde ps`, `attach`, `top`, `detach`, `ctl`, and `status` of a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/run_command.h"

namespace sonde::cli {

struct PsOptions {
  bool json = false;
};
int ps(const PsOptions& options, const Console& console);

struct AttachOptions {
  std::string process;   // number or name
  std::string duration;  // "": until Ctrl-C or the end of the JVM
  RunOptions recording;  // what is recorded and where; the command is not used
};
int attach(const AttachOptions& options, const Console& console);

struct DetachOptions {
  std::string process;
};
int detach(const DetachOptions& options, const Console& console);

struct CtlOptions {
  std::string process;
  std::string action;              // start, stop or status
  std::vector<std::string> modes;  // as in --mode
};
int ctl(const CtlOptions& options, const Console& console);

struct TopOptions {
  std::string target;        // a process, or the folder of a live recording
  std::uint32_t frames = 0;  // screens until it ends by itself; 0: it does not
  bool hot = false;          // begin with the hottest methods and calls
  RunOptions recording;      // begun if the process is not recorded yet; thrown away at the end unless `out` is set
};
int top(const TopOptions& options, const Console& console);

// What is on in a process.
int status_of_process(const std::string& process, bool json, const Console& console);

}  // namespace sonde::cli
