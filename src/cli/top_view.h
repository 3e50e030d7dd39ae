// SPDX-License-Identifier: Apache-2.0
// What `sonde top` shows: a screen of text, made of two looks at a recording that goes on. Knows nothing of terminals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/console.h"
#include "profile/metric.h"
#include "profile/profile.h"
#include "profile/sums.h"

namespace sonde::cli {

// Lines of at most that many characters (0: any number), and exactly so many lines.
std::string fitted(const std::string& text, std::size_t width, std::size_t height);

enum class TopSort : std::uint8_t { kNow, kSelf, kTotal };

class TopView {
 public:
  // Chosen by keys; each goes to the next and from the last to the first.
  void next_metric();
  void next_sort();
  void next_grouping();

  // A look at the recording, `now_ns` on any clock that only goes forward.
  void look(const profile::Profile& profile, std::uint64_t now_ns);

  // `modes` are those that are on; `notice` is for the last line. As many lines as `height`, none wider than the
  // console.
  [[nodiscard]] std::string screen(const Console& console, std::size_t height, const std::string& modes,
                                   const std::string& notice) const;

 private:
  struct Row {
    std::string name;
    std::uint64_t self = 0;
    std::uint64_t total = 0;
    std::uint64_t now = 0;  // of self, since the last look
  };

  [[nodiscard]] std::vector<Row> sorted_rows() const;
  [[nodiscard]] std::string heading(const std::string& modes) const;

  std::optional<profile::Metric> wanted_metric_;
  TopSort sort_ = TopSort::kNow;
  profile::Grouping grouping_ = profile::Grouping::kMethod;

  // Of the last look.
  profile::Recording recording_;
  std::vector<profile::Metric> metrics_;  // that it has something of
  profile::Metric metric_ = profile::Metric::kSamples;
  std::size_t threads_ = 0;
  std::vector<Row> rows_;
  std::uint64_t sum_ = 0;
  std::uint64_t sum_now_ = 0;
  std::uint64_t looked_at_ns_ = 0;
  std::uint64_t between_ns_ = 0;  // the last look and the one before; 0: there was none
  std::uint64_t own_ns_ = 0;
  std::uint64_t own_now_ns_ = 0;
  std::unordered_map<std::string, std::uint64_t> self_before_;
  profile::Grouping grouping_before_ = profile::Grouping::kMethod;
  std::optional<profile::Metric> metric_before_;
};

}  // namespace sonde::cli
