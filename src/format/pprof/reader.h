// SPDX-License-Identifier: Apache-2.0
// profile.proto as a profile. Sample types with the name of a metric become that metric; if there is none, one of them
// becomes `samples`.
#pragma once

#include <string>

#include "base/bytes.h"
#include "profile/profile.h"

namespace sonde::format::pprof {

struct ReadOptions {
  std::string sample_type;  // that is to become `samples`; "": the file's default, else its last
};

// Not compressed. Errors name the message and the byte.
Result<profile::Profile> read(Bytes bytes, const ReadOptions& options);

}  // namespace sonde::format::pprof
