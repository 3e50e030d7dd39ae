// SPDX-License-Identifier: Apache-2.0
// The browser view as ui/build.mjs made it, put into the program when it was linked. It has two marks that are
// replaced.
#pragma once

#include <string_view>

namespace sonde::format::html {

inline constexpr std::string_view kTitleMark = "%SONDE_TITLE%";
inline constexpr std::string_view kDataMark = "%SONDE_DATA%";

// Empty if there was no browser view to put in.
std::string_view page();

}  // namespace sonde::format::html
