// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file to import.
#include <cstddef>
#include <cstdint>

#include "format/collapsed/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = sonde::format::collapsed::read({data, size}, {});
  // What was read holds together: a thread for each root.
  if (profile.ok() && !profile->threads.empty()) SONDE_CHECK(profile->threads.back().end_node == profile->tree.size());
  return 0;
}
