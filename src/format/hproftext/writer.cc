// SPDX-License-Identifier: Apache-2.0
#include "format/hproftext/writer.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// What a ranked list is made of: a method that ran, or a class of which objects were allocated, and the trace to it.
struct Site {
  std::size_t trace;
  std::optional<profile::MethodId> what;  // nothing: the class is not known
  auto operator<=>(const Site&) const = default;
};

struct Amount {
  std::uint64_t of_metric = 0;
  std::uint64_t objects = 0;
};

class Writer {
 public:
  Writer(const profile::Profile& profile, profile::Metric metric, std::uint32_t depth, const Sink& sink)
      : profile_(profile),
        type_(profile::info_of(metric)),
        is_time_(profile::is_time(metric)),
        has_sites_(metric == profile::Metric::kAllocatedBytes),
        depth_(std::max(depth, 1U)),
        sink_(sink) {}

  bool run() {
    date_ = date_of(profile_.recording.start_ns);
    write_prelude();
    const MethodOrder order(profile_);
    const std::array types = {type_, profile::info_of(profile::Metric::kAllocations)};
    std::uint32_t thread = 0;
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      ++thread;
      put("THREAD START (obj=" + std::to_string(thread) + ", id = " + std::to_string(thread) +
          ", name=" + quoted(group.name) + ", group=\"\")\n");
      collect(thread, contexts_of(profile_, order, group.threads, types, CallSites::kKeep));
    }
    write_traces();
    write_ranking();
    return is_fine_;
  }

 private:
  void write_prelude() {
    put("JAVA PROFILE 1.0.1, created " + date_ + "\n\n");
    for (const std::string& line : comments_of(profile_)) put(line + "\n");
    put("The counts are " + (is_time_ ? "milliseconds of " + std::string(type_.label) : std::string(type_.name)) +
        ".\n");
    if (has_sites_) put("Which objects are live was not recorded: those columns are zero.\n");
    put("\n--------\n\n");
  }

  void collect(std::uint32_t thread, const Contexts& contexts) {
    std::vector<std::size_t> path;
    for (std::size_t context = 0; context < contexts.size(); ++context) {
      path.resize(contexts.depth[context]);
      path.push_back(context);
      const Amount amount = {.of_metric = contexts.values[0][context], .objects = contexts.values[1][context]};
      if (amount.of_metric == 0) continue;
      std::size_t end = path.size();
      std::optional<profile::MethodId> what = contexts.method[context];
      // The class of an allocated object is its innermost frame, which is of no class itself.
      if (has_sites_ && !is_class(*what)) what.reset();
      if (has_sites_ && what) --end;
      Trace trace = {.thread = thread, .frames = {}};
      std::uint16_t line = end < path.size() ? contexts.line[path[end]] : std::uint16_t{0};  // of the next inner call
      for (std::size_t i = end; i-- > 0 && trace.frames.size() < depth_;) {
        trace.frames.push_back({.method = contexts.method[path[i]], .line = line});
        line = contexts.line[path[i]];
      }
      const auto [it, is_new] = index_.try_emplace(std::move(trace), traces_.size());
      if (is_new) traces_.push_back(&it->first);
      Amount& sum = sites_[{.trace = it->second, .what = what}];
      sum.of_metric += amount.of_metric;
      sum.objects += amount.objects;
    }
  }

  [[nodiscard]] bool is_class(profile::MethodId id) const { return profile_.class_of(id).name.empty(); }

  void write_traces() {
    for (std::size_t i = 0; i < traces_.size() && is_fine_; ++i) {
      put("TRACE " + std::to_string(kFirstTrace + i) + ": (thread=" + std::to_string(traces_[i]->thread) + ")\n");
      if (traces_[i]->frames.empty()) put("\t<empty>\n");
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

  void write_ranking() {
    std::vector<std::pair<Site, Amount>> ranking(sites_.begin(), sites_.end());
    std::ranges::stable_sort(ranking,
                             [](const auto& a, const auto& b) { return a.second.of_metric > b.second.of_metric; });
    std::uint64_t total = 0;
    for (const auto& [site, amount] : ranking) total += amount.of_metric;
    const std::string section = has_sites_ ? "SITES" : is_time_ ? "CPU TIME (ms)" : "CPU SAMPLES";
    put(section + " BEGIN (" + (has_sites_ ? "ordered by allocated bytes" : "total = " + std::to_string(shown(total))) +
        ") " + date_ + "\n");
    put(has_sites_ ? "          percent          live          alloc'ed  stack class\n"
                     " rank   self  accum     bytes objs     bytes  objs trace name\n"
                   : "rank   self  accum   count trace method\n");
    std::uint64_t sum = 0;
    for (std::size_t rank = 0; rank < ranking.size() && is_fine_; ++rank) {
      const auto& [site, amount] = ranking[rank];
      sum += amount.of_metric;
      const auto percent = [&](std::uint64_t part) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(total);
      };
      char row[128];
      if (has_sites_) {
        std::snprintf(row, sizeof row, "%5zu %5.2f%% %5.2f%% %9d %4d %9" PRIu64 " %5" PRIu64 " %5zu ", rank + 1,
                      percent(amount.of_metric), percent(sum), 0, 0, amount.of_metric, amount.objects,
                      kFirstTrace + site.trace);
      } else {
        std::snprintf(row, sizeof row, "%4zu %5.2f%% %5.2f%% %7" PRIu64 " %5zu ", rank + 1, percent(amount.of_metric),
                      percent(sum), shown(amount.of_metric), kFirstTrace + site.trace);
      }
      put(row + (site.what ? name_of(*site.what) : std::string("<Unknown_class>")) + "\n");
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
  const bool has_sites_;
  const std::uint32_t depth_;
  const Sink& sink_;
  std::string date_;
  bool is_fine_ = true;
  std::map<Trace, std::size_t> index_;
  std::vector<const Trace*> traces_;  // in the order of their numbers
  std::map<Site, Amount> sites_;
};

}  // namespace

bool write(const profile::Profile& profile, profile::Metric metric, std::uint32_t depth, const Sink& sink) {
  return Writer(profile, metric, depth, sink).run();
}

}  // namespace sonde::format::hproftext
