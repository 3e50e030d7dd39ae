// SPDX-License-Identifier: Apache-2.0
#include "control/control_line.h"

#include <algorithm>
#include <optional>

namespace sonde::control {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

Error malformed(const char* message) { return {ErrorCode::kMalformed, message}; }

bool is_plain(char c) { return c > ' ' && c < '\x7f' && c != '%'; }

std::optional<std::string> decoded(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (is_plain(word[i])) {
      text += word[i];
      continue;
    }
    if (word[i] != '%' || i + 2 >= word.size()) return std::nullopt;
    const std::size_t high = kDigits.find(word[i + 1]);
    const std::size_t low = kDigits.find(word[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos || high * 16 + low == 0) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

}  // namespace

Result<ControlLine> parse_line(std::string_view line) {
  if (line.size() > kLongestLine) return malformed("the line is too long");
  ControlLine result;
  bool is_first = true;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) return malformed("a word is empty");
    if (is_first) {
      is_first = false;
      const bool is_verb = std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
      if (!is_verb) return malformed("no verb");
      result.verb = word;
      continue;
    }
    if (result.words.size() == kMostWords) return malformed("too many words");
    std::optional<std::string> text = decoded(word);
    if (!text) return malformed("a word has a byte that must be written as %XX");
    result.words.push_back(std::move(*text));
  }
  return result;
}

std::string format_line(std::string_view verb, const std::vector<std::string>& words) {
  std::string line(verb);
  for (const std::string& word : words) {
    line += ' ';
    for (const char c : word) {
      if (is_plain(c)) {
        line += c;
      } else {
        const auto byte = static_cast<unsigned char>(c);
        line.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
      }
    }
  }
  return line + "\n";
}

}  // namespace sonde::control
