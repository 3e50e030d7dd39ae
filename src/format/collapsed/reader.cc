// SPDX-License-Identifier: Apache-2.0
#include "format/collapsed/reader.h"

#include <charconv>
#include <string>
#include <vector>

#include "format/profile_builder.h"

namespace sonde::format::collapsed {
namespace {

constexpr std::string_view kNoThread = "all";

// async-profiler tells kinds of frames by such endings.
std::string_view without_kind(std::string_view frame) {
  for (const std::string_view kind : {"_[j]", "_[i]", "_[k]", "_[0]", "_[1]"}) {
    if (frame.size() > kind.size() && frame.ends_with(kind)) return frame.substr(0, frame.size() - kind.size());
  }
  return frame;
}

class LineReader {
 public:
  LineReader(ProfileBuilder& builder, const ReadOptions& options) : builder_(builder), options_(options) {}

  Result<void> add(std::string_view line) {
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos || space == 0) {
      return Error{ErrorCode::kMalformed, "expected frames, a space and a number"};
    }
    const std::string_view digits = line.substr(space + 1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return Error{ErrorCode::kMalformed, "`" + std::string(digits.substr(0, 40)) + "` is not a number of 64 bits"};
    }
    std::string_view stack = line.substr(0, space);
    std::string_view thread = kNoThread;
    if (options_.has_threads) {
      const std::size_t end_of_thread = std::min(stack.find(';'), stack.size());
      thread = stack.substr(0, end_of_thread);
      stack.remove_prefix(std::min(end_of_thread + 1, stack.size()));
    }
    frames_.clear();
    while (!stack.empty()) {
      const std::size_t end_of_frame = std::min(stack.find(';'), stack.size());
      frames_.push_back({.method = builder_.method(without_kind(stack.substr(0, end_of_frame)))});
      stack.remove_prefix(std::min(end_of_frame + 1, stack.size()));
    }
    const Value of_line = {.metric = options_.metric, .amount = value};
    return builder_.add(builder_.thread(thread), frames_, std::span(&of_line, 1));
  }

 private:
  ProfileBuilder& builder_;
  const ReadOptions& options_;
  std::vector<Frame> frames_;
};

}  // namespace

Result<profile::Profile> read(Bytes bytes, const ReadOptions& options) {
  ProfileBuilder builder;
  builder.profile().recording.mode = "import:collapsed";
  LineReader reader(builder, options);
  const std::string_view text = as_text(bytes);
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#')) {
      if (Result<void> added = reader.add(line); !added.ok()) {
        return std::move(added).error().within("line " + std::to_string(number)).shifted(begin);
      }
    }
    begin = end + 1;
  }
  return std::move(builder).finish();
}

}  // namespace sonde::format::collapsed
