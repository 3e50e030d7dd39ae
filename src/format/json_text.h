// SPDX-License-Identifier: Apache-2.0
// Text as JSON wants it (RFC 8259, section 7).
#pragma once

#include <string>
#include <string_view>

namespace sonde::format {

// With the quotes. UTF-8 stays as it is.
std::string json_string(std::string_view text);

}  // namespace sonde::format
