// SPDX-License-Identifier: Apache-2.0
// Aligned text: columns of numbers to the right, a last column of names to the left.
#pragma once

#include <string>
#include <vector>

namespace sonde::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool is_empty() const { return rows_.size() == 1; }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "12.3 %"; "-" of nothing.
std::string percent(std::uint64_t part, std::uint64_t whole);
// 512 B, 12.3 KB, 1.2 MB, 3.4 GB
std::string byte_size(std::uint64_t bytes);

}  // namespace sonde::cli
