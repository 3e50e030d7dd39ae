// SPDX-License-Identifier: Apache-2.0
// Any bytes as a baseline: what is read is written and read again as the same.
#include <cstddef>
#include <cstdint>

#include "gate/baseline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto baseline = sonde::gate::parse_baseline({reinterpret_cast<const char*>(data), size});
  if (!baseline.ok()) return 0;
  const std::string text = sonde::gate::text_of(*baseline);
  const auto again = sonde::gate::parse_baseline(text);
  SONDE_CHECK(again.ok());
  SONDE_CHECK(sonde::gate::text_of(*again) == text);
  return 0;
}
