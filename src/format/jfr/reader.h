// SPDX-License-Identifier: Apache-2.0
// Execution samples of a flight recording as a profile: events jdk.ExecutionSample and jdk.CPUTimeSample, each one
// sample. Of our own files, the exact values of sonde.Context instead.
#pragma once

#include "base/bytes.h"
#include "profile/profile.h"

namespace sonde::format::jfr {

// Errors name the chunk and the byte in the file.
Result<profile::Profile> read(Bytes bytes);

}  // namespace sonde::format::jfr
