// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest_subgraph.h"

#include <algorithm>

namespace sonde::profile {
namespace {

struct Measured {
  std::uint32_t node;  // in the profile
  std::uint32_t depth;
  std::uint64_t time_ns;
  std::uint64_t own_ns;
  std::uint64_t calls;
  std::uint64_t callee_time_ns = 0;
  std::uint64_t callee_calls = 0;
};

class SubgraphIngest {
 public:
  SubgraphIngest(Profile& profile, const std::function<MethodId(const arena::SubgraphContext&)>& method_of)
      : profile_(profile), method_of_(method_of), is_cpu_(profile.recording.subgraph.time == "cpu") {}

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
    path_.push_back({.node = node,
                     .depth = context.depth,
                     .time_ns = context.time_ns,
                     .own_ns = context.own_ns,
                     .calls = context.calls});
    if (context.times != nullptr) add_times(method, context);
  }

  void end() {
    while (!path_.empty()) leave();
  }

 private:
  // All callees are known: t_exact = t_measured - t_inner - callees x t_outer.
  void leave() {
    const Measured m = path_.back();
    path_.pop_back();
    // Of a constructor whose super() threw, only what it called is known: its caller's time has that, too.
    if (m.callee_time_ns > m.time_ns && !path_.empty()) path_.back().callee_time_ns += m.callee_time_ns - m.time_ns;
    const Subgraph& cost = profile_.recording.subgraph;
    if (cost.time == "off") return;
    const auto correction = static_cast<long double>(m.calls) * static_cast<long double>(cost.inner_ps) +
                            static_cast<long double>(m.callee_calls) * static_cast<long double>(cost.outer_ps);
    const auto taken = m.callee_time_ns + m.own_ns + static_cast<std::uint64_t>(correction / 1000);
    profile_.tree.column(is_cpu_ ? Metric::kCpuNs : Metric::kWallNs)[m.node] =
        m.time_ns > taken ? m.time_ns - taken : 0;
  }

  void add_times(MethodId method, const arena::SubgraphContext& context) {
    auto it = std::ranges::find(profile_.roots, method, &RootCalls::method);
    if (it == profile_.roots.end()) {
      profile_.roots.push_back({.method = method, .buckets = std::vector<std::uint64_t>(arena::kTimeBuckets)});
      it = std::prev(profile_.roots.end());
    }
    const arena::RootTimes& times = *context.times;
    const std::uint64_t count = __atomic_load_n(&times.count, __ATOMIC_ACQUIRE);  // pairs with SondeSubgraph.note
    it->calls += context.calls;
    it->exceptions += context.thrown;
    if (count == 0) return;
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
  }

  Profile& profile_;
  const std::function<MethodId(const arena::SubgraphContext&)>& method_of_;
  const bool is_cpu_;
  std::vector<Measured> path_;
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
  const auto wanted = static_cast<std::uint64_t>(static_cast<double>(timed) * part + 0.5);
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
  for (const arena::SubgraphTreeEntry& tree : reader.subgraph_trees()) {
    profile.tree.push_root();
    SubgraphIngest ingest(profile, method_of);
    reader.walk(
        tree, [&](const arena::SubgraphContext& context) { ingest.add(context); }, damage);
    ingest.end();
    const auto it = threads.find(tree.id);
    Thread thread = it != threads.end() ? it->second : Thread{.name = "(unnamed)"};
    if (tree.threads > 1) thread.more = static_cast<std::uint32_t>(tree.threads - 1);
    profile.threads.push_back(std::move(thread));
    profile.recording.arena_nodes += tree.nodes;
  }
}

}  // namespace sonde::profile
