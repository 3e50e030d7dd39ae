// SPDX-License-Identifier: Apache-2.0
// Name patterns as the command line takes them.
#pragma once

#include <string_view>

namespace sonde {

// `*` stands for any text, also across packages, `?` for one character; `.` and `/` are the same, so that both
// java.util.* and java/util/* work.
bool class_name_matches(std::string_view pattern, std::string_view name);

}  // namespace sonde
