// SPDX-License-Identifier: Apache-2.0
// What a running JVM is recorded into, however that began: with `sonde run`, `sonde attach`, or as the child of a JVM
// that is followed. The arena that it has mapped tells. Modes that go on and off are known to the agent that listens in
// a JVM that was attached to; all others stay as they were chosen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/jvms.h"

namespace sonde::cli {

struct LiveRecording {
  std::string folder;           // as the JVM sees it
  std::filesystem::path place;  // the same folder, as this process sees it
  bool is_attached = false;     // began when the JVM ran already, and can be told to change and to end
  std::uint64_t start_ns = 0;   // of CLOCK_REALTIME; 0: not yet
  std::vector<std::string> modes;
};

// Nothing if the JVM is not recorded, or not any more. What `sonde run` records may be attached to as well, by a mode
// of another kind: then it is the recording that takes orders.
std::optional<LiveRecording> live_recording_of(const RunningJvm& jvm);

// An error if the JVM has a recording that takes no orders: `sonde run` began it.
Result<void> check_takes_orders(const RunningJvm& jvm);

}  // namespace sonde::cli
