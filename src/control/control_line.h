// SPDX-License-Identifier: Apache-2.0
// A line of the control protocol: a verb and words, separated by single blanks, in printable ASCII. Bytes of a word
// that are not, blanks and `%` are written as %XX. Whatever breaks these rules is refused: nobody guesses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::control {

inline constexpr std::size_t kLongestLine = 8192;  // without the line feed
inline constexpr std::size_t kMostWords = 64;

struct ControlLine {
  std::string verb;  // small letters and `-`
  std::vector<std::string> words;
};

// `line` is without its line feed.
Result<ControlLine> parse_line(std::string_view line);
// With its line feed; the other way round.
std::string format_line(std::string_view verb, const std::vector<std::string>& words);

}  // namespace sonde::control
