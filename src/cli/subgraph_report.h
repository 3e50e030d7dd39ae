// SPDX-License-Identifier: Apache-2.0
// What reports say about a call subgraph or a region: the calls of its roots, what was instrumented, what measuring
// cost, and where the cost is more than what was measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/console.h"
#include "profile/profile.h"

namespace sonde::cli {

// What is taken off the time that was measured in a method, of all its contexts.
struct Correction {
  std::uint64_t ns = 0;
  std::uint64_t error_ns = 0;
};
// By method.
std::vector<Correction> corrections_of(const profile::Profile& profile);
// The instrumentation took longer than the method itself: its time says little.
[[nodiscard]] bool is_distorted(const Correction& correction, std::uint64_t self_ns);
// "4.1 ms +-0.2 ms", and "!" where it is distorted
std::string correction_text(const Correction& correction, std::uint64_t self_ns);

// Lines for the header of a report; "" of other recordings.
std::string subgraph_lines(const profile::Profile& profile);
// A row per root; "" of other recordings.
std::string roots_text(const profile::Profile& profile, const Console& console);
nlohmann::ordered_json subgraph_json(const profile::Profile& profile);

}  // namespace sonde::cli
