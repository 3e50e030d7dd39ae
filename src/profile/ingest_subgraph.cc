// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest_subgraph.h"

#include <algorithm>
#include <cmath>

namespace sonde::profile {
namespace {

// A context, once all its callees are known.
struct Measured {
  std::uint32_t node;  // in the profile
  std::uint32_t depth;
  std::size_t root;  // in Profile::roots
  std::uint64_t time_ns;
  std::uint64_t own_ns;
  std::uint64_t calls;
  std::uint64_t callee_time_ns = 0;
  std::uint64_t callee_calls = 0;

  // What was measured, less `part` of what its probes cost by calibration.
  [[nodiscard]] std::uint64_t self_ns(const Subgraph& cost, long double part) const {
    const auto taken = callee_time_ns + own_ns + static_cast<std::uint64_t>(part * correction_ns(cost));
    return time_ns > taken ? time_ns - taken : 0;
  }
  // t_inner + callees x t_outer (papers/003, section 5.3).
  [[nodiscard]] long double correction_ns(const Subgraph& cost) const {
    return (static_cast<long double>(calls) * static_cast<long double>(cost.inner_ps) +
            static_cast<long double>(callee_calls) * static_cast<long double>(cost.outer_ps)) /
           1000;
  }
};

struct Weighed {
  std::uint64_t bare_round = 0;  // the latest one
  double bare_squares = 0;       // of times, summed up: for how far they may be off
  long double expected_ns = 0;   // what the calls that were measured would have taken bare
};

class SubgraphIngest {
 public:
  SubgraphIngest(Profile& profile, const std::function<MethodId(const arena::SubgraphContext&)>& method_of)
      : profile_(profile), cost_(profile.recording.subgraph), method_of_(method_of) {}

  void add(const arena::SubgraphContext& context) {
    while (!path_.empty() && path_.back().depth >= context.depth) leave();
    const MethodId method = method_of_(context);
    const auto node = static_cast<std::uint32_t>(profile_.tree.size());
    profile_.tree.push(context.depth, method, 0,
                       {{Metric::kCalls, context.calls},
                        {Metric::kBytecodes, context.bytecodes},
                        {Metric::kExceptions, context.thrown}});
    if (!path_.empty()) {
      path_.back().callee_time_ns += context.time_ns;
      path_.back().callee_calls += context.calls;
    }
    const std::size_t root = context.times != nullptr ? add_times(method, context) : path_.front().root;
    path_.push_back({.node = node,
                     .depth = context.depth,
                     .root = root,
                     .time_ns = context.time_ns,
                     .own_ns = context.own_ns,
                     .calls = context.calls});
  }

  void end_tree() {
    while (!path_.empty()) leave();
  }

  // All trees are known: times of contexts.
  void end() {
    if (cost_.time == "off") return;
    for (std::size_t i = 0; i < profile_.roots.size(); ++i) weigh(i);
    const Metric metric = cost_.time == "cpu" ? Metric::kCpuNs : Metric::kWallNs;
    std::vector<std::uint64_t>& times = profile_.tree.column(metric);
    std::vector<long double> charged(profile_.roots.size());
    for (const Measured& m : measured_) {
      times[m.node] = m.self_ns(cost_, cost_part(m.root));
      charged[m.root] += static_cast<long double>(times[m.node]);
    }
    // No time is less than nothing, so the sum may be more than all calls took bare; and where the compiler made
    // something better of instrumented methods, it is less.
    for (const Measured& m : measured_) {
      const long double expected = weighed_[m.root].expected_ns;
      if (profile_.roots[m.root].cost_percent == 100 || charged[m.root] == 0) continue;
      times[m.node] = static_cast<std::uint64_t>(static_cast<long double>(times[m.node]) * expected / charged[m.root]);
    }
  }

 private:
  static constexpr std::uint64_t kFewestCalls = 10;  // for a mean with an error

  void leave() {
    const Measured m = path_.back();
    path_.pop_back();
    // Of a constructor whose super() threw, only what it called is known: its caller's time has that, too.
    if (m.callee_time_ns > m.time_ns && !path_.empty()) path_.back().callee_time_ns += m.callee_time_ns - m.time_ns;
    measured_.push_back(m);
  }

  [[nodiscard]] long double cost_part(std::size_t root) const {
    return static_cast<long double>(profile_.roots[root].cost_percent) / 100;
  }

  // Where bare calls contradict the calibration, they say what a call costs in this program.
  void weigh(std::size_t index) {
    RootCalls& root = profile_.roots[index];
    if (root.bare < kFewestCalls) return;
    const auto bare = static_cast<double>(root.bare);
    const double mean = static_cast<double>(root.bare_ns) / bare;
    constexpr double kMost = 1e18;  // of a damaged arena
    const double deviations = weighed_[index].bare_squares - bare * mean * mean;
    root.bare_error_ns = static_cast<std::uint64_t>(std::min(kMost, std::sqrt(std::max(1.0, deviations))));
    if (root.timed == 0) return;
    const long double each = static_cast<long double>(root.timed) / static_cast<long double>(root.bare);
    long double charged = 0;
    long double correction = 0;
    for (const Measured& m : measured_) {
      if (m.root != index) continue;
      charged += static_cast<long double>(m.self_ns(cost_, 1));
      correction += m.correction_ns(cost_);
    }
    const long double expected = each * static_cast<long double>(root.bare_ns);
    weighed_[index].expected_ns = expected;
    if (correction == 0 || std::abs(charged - expected) <= 2 * each * static_cast<long double>(root.bare_error_ns))
      return;
    const long double cost = static_cast<long double>(root.time_ns) - expected;
    root.cost_percent = static_cast<std::uint64_t>(std::max(0.0L, 100 * cost / correction) + 0.5L);
  }

  // Returns which one of the roots it is.
  std::size_t add_times(MethodId method, const arena::SubgraphContext& context) {
    auto it = std::ranges::find(profile_.roots, method, &RootCalls::method);
    if (it == profile_.roots.end()) {
      profile_.roots.push_back({.method = method, .buckets = std::vector<std::uint64_t>(arena::kTimeBuckets)});
      weighed_.emplace_back();
      it = std::prev(profile_.roots.end());
    }
    const auto index = static_cast<std::size_t>(it - profile_.roots.begin());
    const arena::RootTimes& times = *context.times;
    const std::uint64_t count = __atomic_load_n(&times.count, __ATOMIC_ACQUIRE);  // pairs with SondeSubgraph.note
    it->calls += context.calls;
    it->exceptions += context.thrown;
    add_bare(*it, weighed_[index], times);
    if (count == 0) return index;
    it->least_ns = it->timed == 0 ? times.least_ns : std::min(it->least_ns, times.least_ns);
    it->most_ns = std::max(it->most_ns, times.most_ns);
    it->time_ns += times.time_ns;
    it->timed += count;
    for (std::size_t i = 0; i < it->buckets.size(); ++i) it->buckets[i] += times.buckets[i];
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, arena::kLastCalls); ++i)
      it->last.push_back({times.last[i].start_ns, times.last[i].time_ns});
    std::ranges::sort(it->last, {}, &RootCalls::Call::start_ns);
    if (it->last.size() > arena::kLastCalls)
      it->last.erase(it->last.begin(), it->last.end() - static_cast<std::ptrdiff_t>(arena::kLastCalls));
    return index;
  }

  // A thread may have none in the latest round, and then has an earlier one.
  static void add_bare(RootCalls& root, Weighed& weighed, const arena::RootTimes& times) {
    root.all_bare += times.all_bare;
    if (times.bare_round < weighed.bare_round) return;
    if (times.bare_round > weighed.bare_round) {
      root.bare = root.bare_ns = 0;
      weighed = {.bare_round = times.bare_round};
    }
    root.bare += times.bare;
    root.bare_ns += times.bare_ns;
    weighed.bare_squares += times.bare_squares;
  }

  Profile& profile_;
  const Subgraph& cost_;
  const std::function<MethodId(const arena::SubgraphContext&)>& method_of_;
  std::vector<Measured> path_;
  std::vector<Measured> measured_;
  std::vector<Weighed> weighed_;  // by root
};

}  // namespace

Subgraph subgraph_of(const arena::Summary& summary) {
  if ((summary.flags & arena::kSubgraph) == 0) return {};
  const arena::SubgraphInfo& info = summary.subgraph;
  return {.scheme = info.scheme == arena::SubgraphScheme::kRegion  ? "region"
                    : info.scheme == arena::SubgraphScheme::kEager ? "eager"
                                                                   : "lazy",
          .time = info.time == arena::SubgraphTime::kNone  ? "off"
                  : info.time == arena::SubgraphTime::kCpu ? "cpu"
                                                           : "wall",
          .inner_ps = info.inner_ps,
          .outer_ps = info.outer_ps,
          .inner_error_ps = info.inner_error_ps,
          .outer_error_ps = info.outer_error_ps,
          .methods = info.methods,
          .followed = info.followed,
          .classes = info.classes,
          .batches = info.batches,
          .batch_ns = info.batch_ns,
          .batch_p99_ns = info.batch_p99_ns,
          .batch_max_ns = info.batch_max_ns,
          .paused_ns = info.paused_ns,
          .paused_p99_ns = info.paused_p99_ns,
          .paused_max_ns = info.paused_max_ns,
          .waited_ns = info.waited_ns};
}

std::uint64_t RootCalls::time_at(double part) const {
  const auto wanted = static_cast<std::uint64_t>(std::llround(static_cast<double>(timed) * part));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    seen += buckets[i];
    if (seen < wanted || seen == 0) continue;
    const std::uint64_t end =
        i + 1 < buckets.size() ? arena::least_of_bucket(static_cast<std::uint32_t>(i + 1)) - 1 : most_ns;
    return std::clamp(end, least_ns, most_ns);
  }
  return most_ns;
}

void add_subgraph(const arena::Reader& reader, Profile& profile, arena::Damage& damage,
                  std::unordered_map<std::uint32_t, Thread>& threads,
                  const std::function<MethodId(const arena::SubgraphContext&)>& method_of) {
  SubgraphIngest ingest(profile, method_of);
  for (const arena::SubgraphTreeEntry& tree : reader.subgraph_trees()) {
    profile.tree.push_root();
    reader.walk(
        tree, [&](const arena::SubgraphContext& context) { ingest.add(context); }, damage);
    ingest.end_tree();
    const auto it = threads.find(tree.id);
    Thread thread = it != threads.end() ? it->second : Thread{.name = "(unnamed)"};
    if (tree.threads > 1) thread.more = static_cast<std::uint32_t>(tree.threads - 1);
    profile.threads.push_back(std::move(thread));
    profile.recording.arena_nodes += tree.nodes;
  }
  ingest.end();
}

}  // namespace sonde::profile
