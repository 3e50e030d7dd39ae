// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of the control protocol: it is refused, or means the same when it is written again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control/control_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto line = sonde::control::parse_line({reinterpret_cast<const char*>(data), size});
  if (!line.ok()) return 0;
  SONDE_CHECK(size <= sonde::control::kLongestLine);
  const std::string text = sonde::control::format_line(line->verb, line->words);
  const auto again = sonde::control::parse_line(std::string_view(text).substr(0, text.size() - 1));
  SONDE_CHECK(again.ok() && again->verb == line->verb && again->words == line->words);
  return 0;
}
