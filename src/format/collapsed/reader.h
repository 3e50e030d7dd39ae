// SPDX-License-Identifier: Apache-2.0
// Collapsed stacks as a profile: our own and those of other tools.
#pragma once

#include "base/bytes.h"
#include "profile/profile.h"

namespace sonde::format::collapsed {

struct ReadOptions {
  profile::Metric metric = profile::Metric::kSamples;  // what the numbers are
  bool has_threads = true;                             // the first part of a line is a thread
};

// Errors name the line.
Result<profile::Profile> read(Bytes bytes, const ReadOptions& options);

}  // namespace sonde::format::collapsed
