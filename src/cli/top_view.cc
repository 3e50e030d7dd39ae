// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "cli/sampling_report.h"
#include "cli/table.h"

namespace sonde::cli {
namespace {

using profile::Grouping;
using profile::Metric;

constexpr Grouping kGroupings[] = {Grouping::kMethod, Grouping::kClass, Grouping::kPackage, Grouping::kThread};
constexpr const char* kGroupingNames[] = {"method", "class", "package", "thread"};
constexpr const char* kSortNames[] = {"now", "self", "total"};
constexpr const char* kKeys = "m metric  s sort  b by  h hot  c cpu  w wall  e exact  f exact:flat  q quit";
constexpr std::size_t kLinesAround = 6;

std::size_t index_of(Grouping grouping) {
  return static_cast<std::size_t>(std::ranges::find(kGroupings, grouping) - std::begin(kGroupings));
}

// Times as a share of a core, numbers per second.
std::string rate_text(Metric metric, std::uint64_t amount, std::uint64_t ns) {
  if (ns == 0) return "-";
  const double per_second = static_cast<double>(amount) * 1e9 / static_cast<double>(ns);
  if (is_time(metric)) return fmt::format("{:.1f} %", per_second / 1e7);
  return rounded(static_cast<std::uint64_t>(per_second)) + "/s";
}

std::uint64_t own_ns_of(const profile::Recording& recording) {
  return recording.own_cpu_ns + recording.time_sampling.handler_ns + recording.time_sampling.decoder_cpu_ns;
}

}  // namespace

std::string fitted(const std::string& text, std::size_t width, std::size_t height) {
  std::string result;
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size() && lines < height; ++lines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = on_one_line(text.substr(begin, end - begin));
    if (width != 0 && display_width(line) > width) line.resize(width);
    result += line + "\n";
    begin = end + 1;
  }
  for (; lines < height; ++lines) result += "\n";
  return result;
}

void TopView::next_metric() {
  const auto found = std::ranges::find(metrics_, metric_);
  if (metrics_.empty()) return;
  wanted_metric_ = found == metrics_.end() || found + 1 == metrics_.end() ? metrics_.front() : *(found + 1);
}

void TopView::next_sort() {
  sort_ = static_cast<TopSort>((static_cast<std::size_t>(sort_) + 1) % std::size(kSortNames));
}

void TopView::next_grouping() { grouping_ = kGroupings[(index_of(grouping_) + 1) % std::size(kGroupings)]; }

void TopView::look(const profile::Profile& profile, std::uint64_t now_ns) {
  recording_ = profile.recording;
  threads_ = profile.threads.size();
  metrics_.clear();
  for (const profile::MetricInfo& info : profile::kMetrics) {
    if (profile::has_metric(profile, info.metric)) metrics_.push_back(info.metric);
  }
  const bool has_wanted = wanted_metric_ && std::ranges::find(metrics_, *wanted_metric_) != metrics_.end();
  metric_ = has_wanted ? *wanted_metric_ : profile::metric_of_work(profile).value_or(Metric::kSamples);
  const bool is_comparable = looked_at_ns_ != 0 && metric_before_ == metric_ && grouping_before_ == grouping_;
  between_ns_ = is_comparable ? now_ns - looked_at_ns_ : 0;
  looked_at_ns_ = now_ns;
  own_now_ns_ = own_ns_of(recording_) - std::min(own_ns_, own_ns_of(recording_));
  own_ns_ = own_ns_of(recording_);

  rows_.clear();
  sum_ = sum_now_ = 0;
  std::unordered_map<std::string, std::uint64_t> self_now;
  for (const profile::SumRow& row : profile::sums_by(profile, profile.all_threads(), grouping_)) {
    const std::uint64_t self = row.sum.self.of(metric_);
    std::uint64_t& sum_of_name = self_now[row.name];
    sum_of_name += self;
    const auto before = self_before_.find(row.name);
    const std::uint64_t was = before == self_before_.end() ? 0 : before->second;
    const std::uint64_t now = is_comparable ? self - std::min(self, was) : 0;
    rows_.push_back({.name = row.name, .self = self, .total = row.sum.total.of(metric_), .now = now});
    sum_ += self;
    sum_now_ += now;
  }
  self_before_ = std::move(self_now);
  metric_before_ = metric_;
  grouping_before_ = grouping_;
}

std::vector<TopView::Row> TopView::sorted_rows() const {
  std::vector<Row> rows = rows_;
  const auto key = [&](const Row& row) {
    switch (sort_) {
      case TopSort::kNow: return std::tuple(row.now, row.self, row.total);
      case TopSort::kSelf: return std::tuple(row.self, row.total, row.now);
      case TopSort::kTotal: break;
    }
    return std::tuple(row.total, row.self, row.now);
  };
  std::ranges::sort(rows,
                    [&](const Row& a, const Row& b) { return key(a) != key(b) ? key(a) > key(b) : a.name < b.name; });
  return rows;
}

std::string TopView::heading(const std::string& modes) const {
  std::string text = fmt::format("Program   {}\n", recording_.command);
  text +=
      fmt::format("Process   {}, JDK {}, {} threads, modes on: {}\n", recording_.pid, recording_.jdk, threads_, modes);
  text += fmt::format("Own cost  {} so far, {} of a core now\n", seconds(std::chrono::nanoseconds(own_ns_)),
                      rate_text(Metric::kCpuNs, own_now_ns_, between_ns_));
  text += fmt::format("Recorded  {} {}, now {}; by {}, sorted by {}\n", amount_text(metric_, sum_),
                      profile::name_of(metric_), rate_text(metric_, sum_now_, between_ns_),
                      kGroupingNames[index_of(grouping_)], kSortNames[static_cast<std::size_t>(sort_)]);
  return text;
}

std::string TopView::screen(const Console& console, std::size_t height, const std::string& modes,
                            const std::string& notice) const {
  const std::size_t most = height > kLinesAround + 1 ? height - kLinesAround : 1;
  Table table({"now", "self", "total", std::string(profile::name_of(metric_)), kGroupingNames[index_of(grouping_)]});
  std::size_t shown = 0;
  for (const Row& row : sorted_rows()) {
    if (row.self == 0 && row.total == 0) continue;
    if (shown++ == most) break;
    table.add({rate_text(metric_, row.now, between_ns_), fmt::format("{:.1f} %", share_percent(row.self, sum_)),
               fmt::format("{:.1f} %", share_percent(row.total, sum_)), amount_text(metric_, row.self), row.name});
  }
  Console plain = console;
  plain.has_colours = false;
  const std::string last = notice.empty() ? kKeys : notice;
  return fitted(heading(modes) + table.text(plain), console.width, height - 1) + fitted(last, console.width, 1);
}

}  // namespace sonde::cli
