// SPDX-License-Identifier: Apache-2.0
// The stacks of contexts that come in preorder, as text that grows and shrinks at its end: what callers have in common
// is written once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::format {

class StackText {
 public:
  // `start` stands before every stack.
  explicit StackText(std::string start) : text_(std::move(start)), start_(text_.size()) {}

  // The text up to the frame of a context at `depth`.
  const std::string& at(std::uint32_t depth, std::string_view separator, std::string_view frame) {
    ends_.resize(depth);
    text_.resize(ends_.empty() ? start_ : ends_.back());
    text_.append(separator).append(frame);
    ends_.push_back(text_.size());
    return text_;
  }

 private:
  std::string text_;
  std::size_t start_;
  std::vector<std::size_t> ends_;  // in text_, by depth
};

}  // namespace sonde::format
