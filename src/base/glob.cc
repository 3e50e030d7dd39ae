// SPDX-License-Identifier: Apache-2.0
#include "base/glob.h"

#include <cstddef>

namespace sonde {
namespace {

constexpr char normalised(char c) { return c == '.' ? '/' : c; }

}  // namespace

bool class_name_matches(std::string_view pattern, std::string_view name) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = kNone;  // the last one met, and where in the name the text it stands for ends so far
  std::size_t star_end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || normalised(pattern[p]) == normalised(name[n]))) {
      ++p;
      ++n;
    } else if (star != kNone) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace sonde
