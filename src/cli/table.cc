// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cli {
namespace {

constexpr std::size_t kLeastNameWidth = 20;  // narrower than that nobody can read it; long lines are better
constexpr const char* kEllipsis = "…";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The first `width` characters.
std::string_view first_of(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues_character(text[end]) && width-- == 0) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_character));
}

std::string shortened(std::string_view name, std::size_t width) {
  std::string text(name);
  std::size_t begin = std::min(name.find_first_not_of(' '), name.size());
  // A part with a small first letter and a dot behind it is a package.
  while (display_width(text) > width && begin < text.size() && text[begin] >= 'a' && text[begin] <= 'z') {
    const std::size_t dot = text.find_first_of(". ([:", begin);
    if (dot == std::string::npos || text[dot] != '.') break;
    if (text.find_first_of(". ([:", dot + 1) == std::string::npos) break;  // class.method stays
    text.erase(begin + 1, dot - begin - 1);
    begin += 2;
  }
  if (display_width(text) <= width || width == 0) return text;
  return std::string(first_of(text, width - 1)) + kEllipsis;
}

Table::Table(std::vector<Cell> header) {
  for (Cell& cell : header) cell.ink = Ink::kBold;
  rows_.push_back(std::move(header));
}

std::string Table::text(const Console& console) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  std::size_t numbers = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) numbers += widths[i] + 2;
  const bool is_cut = console.width >= numbers + kLeastNameWidth;
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text.append(widths[i] - display_width(row[i].text), ' ');
      text += console.inked(row[i].text, row[i].ink) + "  ";
    }
    const std::string name = on_one_line(row.back().text);
    text += console.inked(is_cut ? shortened(name, console.width - numbers) : name, row.back().ink) + "\n";
  }
  return text;
}

double share_percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Cell percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  const double value = share_percent(part, whole);
  return {fmt::format("{:.1f} %", value), value >= 10 ? Ink::kRed : value >= 1 ? Ink::kYellow : Ink::kDim};
}

std::string byte_size(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* next : {"KB", "MB", "GB", "TB"}) {
    value /= 1024;
    unit = next;
    if (value < 1024) break;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace sonde::cli
