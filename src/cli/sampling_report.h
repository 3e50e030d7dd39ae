// SPDX-License-Identifier: Apache-2.0
// What reports say about samples: how they were taken, what they cost, and how sure a share is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profile/confidence.h"
#include "profile/profile.h"

namespace sonde::cli {

// A value of a metric for people: times as "1.234 s", numbers as "27,013".
std::string amount_text(profile::Metric metric, std::uint64_t value);

// Where the true share lies in 95 of 100 recordings. `part` and `whole` are values of the metric.
profile::Interval confidence_of(const profile::Profile& profile, profile::Metric metric, std::uint64_t part,
                                std::uint64_t whole);
// "12.3-14.1 %"
std::string confidence_text(const profile::Interval& interval);

// Lines for the header of a report; "" if nothing was sampled.
std::string sampling_lines(const profile::Profile& profile);
nlohmann::ordered_json sampling_json(const profile::Profile& profile);

}  // namespace sonde::cli
