// SPDX-License-Identifier: Apache-2.0
#include "format/hproftext/writer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "format/comments.h"
#include "format/contexts.h"

namespace sonde::format::hproftext {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;  // in nanoseconds
constexpr std::uint32_t kFirstTrace = 300001;      // traces are numbered from here on by convention

struct Frame {
  profile::MethodId method;
  std::uint16_t line;
  auto operator<=>(const Frame&) const = default;
};

struct Trace {
  std::uint32_t thread;
  std::vector<Frame> frames;  // innermost first
  auto operator<=>(const Trace&) const = default;
};

// "Wed Oct  7 11:38:10 1998", as ctime() prints it, in UTC.
std::string date_of(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm utc = {};
  char text[32];
  gmtime_r(&seconds, &utc);
  const std::size_t length = std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &utc);
  return {text, length};
}

// Names end at a quote.
std::string quoted(std::string name) {
  std::ranges::replace(name, '"', '\'');
  return "\"" + name + "\"";
}

class Writer {
 public:
  Writer(const profile::Profile& profile, profile::Metric metric, std::uint32_t depth, const Sink& sink)
      : profile_(profile),
        type_(profile::info_of(metric)),
        is_time_(profile::is_time(metric)),
        depth_(std::max(depth, 1U)),
        sink_(sink) {}

  bool run() {
    date_ = date_of(profile_.recording.start_ns);
    write_prelude();
    const MethodOrder order(profile_);
    std::uint32_t thread = 0;
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      ++thread;
      put("THREAD START (obj=" + std::to_string(thread) + ", id = " + std::to_string(thread) +
          ", name=" + quoted(group.name) + ", group=\"\")\n");
      collect(thread, contexts_of(profile_, order, group.threads, std::span(&type_, 1), CallSites::kKeep));
    }
    write_traces();
    write_samples();
    return is_fine_;
  }

 private:
  void write_prelude() {
    put("JAVA PROFILE 1.0.1, created " + date_ + "\n\n");
    for (const std::string& line : comments_of(profile_)) put(line + "\n");
    put("The counts are " + (is_time_ ? "milliseconds of " + std::string(type_.label) : std::string(type_.name)) +
        ".\n\n--------\n\n");
  }

  void collect(std::uint32_t thread, const Contexts& contexts) {
    std::vector<std::size_t> path;
    for (std::size_t context = 0; context < contexts.size(); ++context) {
      path.resize(contexts.depth[context]);
      path.push_back(context);
      const std::uint64_t value = contexts.values[0][context];
      if (value == 0) continue;
      Trace trace = {.thread = thread, .frames = {}};
      std::uint16_t line = 0;  // of the call of the next inner frame
      for (std::size_t i = path.size(); i-- > 0 && trace.frames.size() < depth_;) {
        trace.frames.push_back({.method = contexts.method[path[i]], .line = line});
        line = contexts.line[path[i]];
      }
      const auto [it, is_new] = index_.try_emplace(std::move(trace), traces_.size());
      if (is_new) {
        traces_.push_back(&it->first);
        counts_.push_back(0);
      }
      counts_[it->second] += value;
    }
  }

  void write_traces() {
    for (std::size_t i = 0; i < traces_.size() && is_fine_; ++i) {
      put("TRACE " + std::to_string(kFirstTrace + i) + ": (thread=" + std::to_string(traces_[i]->thread) + ")\n");
      for (const Frame& frame : traces_[i]->frames) put("\t" + frame_text(frame) + "\n");
    }
  }

  [[nodiscard]] std::string name_of(profile::MethodId id) const {
    const std::string& cls = profile_.class_of(id).name;
    return cls.empty() ? profile_.method(id).name : cls + "." + profile_.method(id).name;
  }

  [[nodiscard]] std::string frame_text(const Frame& frame) const {
    const std::string& file = profile_.class_of(frame.method).source_file;
    std::string place = file.empty() ? "Unknown Source" : file + ":";
    if (profile_.method(frame.method).kind == profile::MethodKind::kNative) {
      place = file.empty() ? "Native method" : file + ":Native method";
    } else if (!file.empty()) {
      place += frame.line != 0 ? std::to_string(frame.line) : "Unknown line";
    }
    return name_of(frame.method) + "(" + place + ")";
  }

  void write_samples() {
    std::vector<std::size_t> ranking(traces_.size());
    std::iota(ranking.begin(), ranking.end(), 0);
    std::ranges::stable_sort(ranking, [&](std::size_t a, std::size_t b) { return counts_[a] > counts_[b]; });
    const std::uint64_t total = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    const std::string section = is_time_ ? "CPU TIME (ms)" : "CPU SAMPLES";
    put(section + " BEGIN (total = " + std::to_string(shown(total)) + ") " + date_ + "\n");
    put("rank   self  accum   count trace method\n");
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < ranking.size() && is_fine_; ++rank) {
      const std::size_t i = ranking[rank];
      sum += counts_[i];
      const auto percent = [&](std::uint64_t part) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(total);
      };
      char row[96];
      std::snprintf(row, sizeof row, "%4zu %5.2f%% %5.2f%% %7" PRIu64 " %5zu ", rank + 1, percent(counts_[i]),
                    percent(sum), shown(counts_[i]), kFirstTrace + i);
      put(row + name_of(traces_[i]->frames.front().method) + "\n");
    }
    put(section + " END\n");
  }

  // Times are written in milliseconds, as the agent did for cpu=times.
  [[nodiscard]] std::uint64_t shown(std::uint64_t amount) const {
    return is_time_ ? (amount + kMillisecond / 2) / kMillisecond : amount;
  }

  void put(std::string_view text) { is_fine_ = is_fine_ && sink_(text); }

  const profile::Profile& profile_;
  const profile::MetricInfo type_;
  const bool is_time_;
  const std::uint32_t depth_;
  const Sink& sink_;
  std::string date_;
  bool is_fine_ = true;
  std::map<Trace, std::size_t> index_;
  std::vector<const Trace*> traces_;  // in the order of their numbers
  std::vector<std::uint64_t> counts_;
};

}  // namespace

bool write(const profile::Profile& profile, profile::Metric metric, std::uint32_t depth, const Sink& sink) {
  return Writer(profile, metric, depth, sink).run();
}

}  // namespace sonde::format::hproftext
