// SPDX-License-Identifier: Apache-2.0
// Where a format writes to: a piece of text at a time. False means that it could not be written; the writer then stops.
#pragma once

#include <functional>
#include <string_view>

namespace sonde::format {

using Sink = std::function<bool(std::string_view)>;

}  // namespace sonde::format
