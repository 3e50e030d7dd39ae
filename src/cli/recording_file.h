// SPDX-License-Identifier: Apache-2.0
// What the commands that read a recording share: opening it with an error that helps, and the words about it.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/console.h"
#include "profile/sums.h"

namespace sonde::cli {

// Nothing, after a message that says what to do, if it cannot be read.
std::optional<profile::Profile> open_recording(const std::string& path, const Console& console);

// Whether a process of this number exists and has not ended.
bool is_alive(std::uint32_t pid);

// What is known about the JVM: "ended", "running", "killed" …
struct Liveness {
  std::string word;      // for --json
  std::string sentence;  // for people
};
Liveness liveness_of(const profile::Recording& recording);

// How long it was recorded; nothing if it did not end in good order.
std::optional<std::chrono::duration<double>> duration_of(const profile::Recording& recording);

// The first lines of every report: program, JDK, time, mode, state, and all losses.
std::string recording_header(const profile::Profile& profile);
// The same for --json.
nlohmann::ordered_json recording_json(const profile::Profile& profile);

// A number per metric.
nlohmann::ordered_json amounts_json(const profile::Amounts& amounts);

// Lines about every counter that is not zero and about damage, each ending in a newline; "" if all is well.
std::string losses_of(const profile::Profile& profile);

}  // namespace sonde::cli
