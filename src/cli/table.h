// SPDX-License-Identifier: Apache-2.0
// Aligned text: columns of numbers to the right, a last column of names to the left. On a terminal with colours, and
// with names shortened to its width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"

namespace sonde::cli {

struct Cell {
  std::string text;
  Ink ink = Ink::kPlain;

  Cell(std::string cell_text) : text(std::move(cell_text)) {}  // NOLINT(google-explicit-constructor)
  Cell(const char* cell_text) : text(cell_text) {}             // NOLINT(google-explicit-constructor)
  Cell(std::string cell_text, Ink cell_ink) : text(std::move(cell_text)), ink(cell_ink) {}
};

class Table {
 public:
  explicit Table(std::vector<Cell> header);
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool is_empty() const { return rows_.size() == 1; }
  [[nodiscard]] std::string text(const Console& console) const;

 private:
  std::vector<std::vector<Cell>> rows_;
};

// "12.3 %"; "-" of nothing. The larger, the louder.
Cell percent(std::uint64_t part, std::uint64_t whole);
double share_percent(std::uint64_t part, std::uint64_t whole);  // 0 of nothing
// 512 B, 12.3 KB, 1.2 MB, 3.4 GB
std::string byte_size(std::uint64_t bytes);

// In columns of a terminal, for text without control characters.
std::size_t display_width(std::string_view text);
// At most that wide: packages become letters from the left (c.a.shop.Cart), then the end is cut. Spaces in front stay.
std::string shortened(std::string_view name, std::size_t width);

}  // namespace sonde::cli
