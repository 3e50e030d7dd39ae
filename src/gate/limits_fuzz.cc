// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of limits.
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "gate/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto limits = sonde::gate::parse_limits({reinterpret_cast<const char*>(data), size});
  if (!limits.ok()) {
    SONDE_CHECK(limits.error().where.path.starts_with("line "));
    return 0;
  }
  for (const sonde::gate::Limit& limit : limits->limits) SONDE_CHECK(limit.soft || limit.hard);
  return 0;
}
