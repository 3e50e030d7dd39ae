// SPDX-License-Identifier: Apache-2.0
#include "gate/check.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "gate/growth.h"
#include "gate/match.h"
#include "gate/prune.h"
#include "profile/comparison.h"
#include "profile/metric.h"

namespace sonde::gate {

using profile::Amounts;
using profile::MethodId;
using profile::Metric;
using profile::Profile;
using profile::Sum;

namespace {

Error incomparable(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

std::string list_of(const std::vector<Allowed>& allowed) {
  std::string text;
  for (const Allowed& a : allowed) {
    text += (text.empty() ? "" : ", ") + (a.thread.empty() ? "method " + a.method : "thread " + a.thread);
  }
  return text.empty() ? "nothing" : text;
}

// Numbers that mean different things must not be compared.
Result<void> check_comparable(const Profile& profile, const Baseline& baseline, const Limits& limits) {
  if (profile.recording.state != profile::State::kEnded) {
    return incomparable("the recording is not complete: its JVM did not end in good order");
  }
  if (const std::string mode = comparable_mode(profile.recording); mode != baseline.mode) {
    return incomparable("the recording was made in mode `" + mode + "`, the baseline in mode `" + baseline.mode + "`");
  }
  std::vector<Allowed> allowed = limits.allowed;
  for (Allowed& a : allowed) a.reason.clear();
  if (allowed != baseline.allowed) {
    return incomparable("the limits leave out " + list_of(allowed) + ", the baseline left out " +
                        list_of(baseline.allowed) + ": make the baseline anew with these limits");
  }
  return {};
}

class Check {
 public:
  Check(const Profile& profile, const Baseline& baseline, const Limits& limits)
      : profile_(profile), baseline_(baseline), limits_(limits), growth_(baseline, profile) {
    for (const Metric metric : baseline.metrics) {
      if (profile::has_metric(profile, metric)) result_.metrics.push_back(metric);
    }
    result_.baseline_sum = baseline.sum;
    result_.sum = profile::sum_of(profile, profile.all_threads());
    result_.is_other_jdk = profile.recording.jdk != baseline.jdk;
    result_.values.resize(limits.limits.size());
    for (const Baseline::Method& method : baseline.methods) baseline_methods_.emplace(method.name, &method.sum);
  }

  Result<CheckResult> run() {
    for (std::size_t i = 0; i < limits_.limits.size(); ++i) {
      const Limit& limit = limits_.limits[i];
      const std::optional<Metric> metric = limit.metric ? limit.metric : work_metric();
      if (!metric || std::find(result_.metrics.begin(), result_.metrics.end(), *metric) == result_.metrics.end()) {
        return incomparable("the baseline or the recording has no " +
                            std::string(metric ? profile::name_of(*metric) : "bytecodes or samples"));
      }
      if (!limit.method.empty()) {
        check_methods(i, *metric);
      } else if (!limit.context.empty()) {
        check_contexts(i, *metric);
      } else {
        check_whole(i, *metric);
      }
    }
    std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const Finding& a, const Finding& b) {
      const auto growth = [](const Finding& f) {
        return static_cast<double>(f.value) - static_cast<double>(f.baseline);
      };
      return a.verdict != b.verdict ? a.verdict > b.verdict : growth(a) > growth(b);
    });
    if (!result_.findings.empty()) result_.verdict = result_.findings.front().verdict;
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<Metric> work_metric() const {
    const auto it =
        std::find_if(result_.metrics.begin(), result_.metrics.end(), [](Metric m) { return m != Metric::kCalls; });
    return it == result_.metrics.end() ? std::nullopt : std::optional(*it);
  }

  // What is compared: nothing as the baseline if it is not in there.
  struct Compared {
    std::string subject;
    std::optional<Amounts> baseline;
    Amounts amounts;
  };

  [[nodiscard]] bool is_broken(const Bound& bound, const Limit& limit, Metric metric, const Amounts& before,
                               const Amounts& now) const {
    const auto value = static_cast<double>(now.of(metric));
    if (value <= bound.greatest(before.of(metric))) return false;
    if (bound.kind == Bound::Kind::kAtMost) return true;
    const double growth = value - static_cast<double>(before.of(metric));
    if (growth < static_cast<double>(baseline_.sum.of(metric)) * limit.ignore_below / 100) return false;
    const auto events = profile::events_behind(profile_, metric);  // the baseline was recorded in the same way
    const profile::Comparison comparison{
        .metric = metric, .whole_a = baseline_.sum, .whole_b = result_.sum, .events_a = events, .events_b = events};
    return comparison.is_significant(before, now);
  }

  // The finding, if there is one, to be completed with its path.
  Finding* hold(std::size_t index, Metric metric, const Compared& compared) {
    const Limit& limit = limits_.limits[index];
    ++result_.values[index];
    Amounts before;
    before.of(metric) = baseline_.fold_bound(metric);
    if (compared.baseline) before = *compared.baseline;
    const auto broken = [&](const std::optional<Bound>& bound) {
      return bound && is_broken(*bound, limit, metric, before, compared.amounts);
    };
    const bool is_hard = broken(limit.hard);
    if (!is_hard && !broken(limit.soft)) return nullptr;
    const Bound& bound = is_hard ? *limit.hard : *limit.soft;
    // Growth of what the baseline does not know is no proof: it may have had another name.
    const bool is_new = !compared.baseline && bound.kind != Bound::Kind::kAtMost;
    result_.findings.push_back({.limit = index,
                                .verdict = is_hard && !is_new ? Verdict::kHard : Verdict::kSoft,
                                .subject = compared.subject,
                                .metric = metric,
                                .of = limit.of,
                                .baseline = compared.baseline ? compared.baseline->of(metric) : 0,
                                .value = compared.amounts.of(metric),
                                .bound = bound,
                                .is_new = is_new,
                                .path = {}});
    return &result_.findings.back();
  }

  void check_whole(std::size_t index, Metric metric) {
    Finding* finding =
        hold(index, metric, {.subject = "the whole program", .baseline = baseline_.sum, .amounts = result_.sum});
    if (finding != nullptr) finding->path = growth_.path_of_all(metric);
  }

  void check_methods(std::size_t index, Metric metric) {
    const Limit& limit = limits_.limits[index];
    const auto of = [&](const Sum& sum) { return limit.of == Of::kSelf ? sum.self : sum.total; };
    const std::vector<Sum> sums = profile::sums_by_method(profile_);
    for (std::uint32_t i = 1; i < sums.size(); ++i) {
      const MethodId id(i);
      const profile::Method& method = profile_.method(id);
      const std::string full_name = profile_.full_name(id);
      if (of(sums[i]).of(metric) == 0 || !name_matches(limit.method, full_name)) continue;
      Compared compared{.subject = profile_.display_name(id) + profile::parameter_list(method.descriptor),
                        .baseline = {},
                        .amounts = of(sums[i])};
      if (const auto it = baseline_methods_.find(full_name); it != baseline_methods_.end())
        compared.baseline = of(*it->second);
      if (Finding* finding = hold(index, metric, compared); finding != nullptr) {
        finding->path = growth_.path_of_method(full_name, metric, limit.of);
      }
    }
  }

  void check_contexts(std::size_t index, Metric metric) {
    const Limit& limit = limits_.limits[index];
    const ContextSums sums = growth_.sums_of(limit.context, limit.of);
    std::string subject;
    for (const std::string& pattern : limit.context) subject += (subject.empty() ? "" : " > ") + pattern;
    Compared compared{.subject = std::move(subject), .baseline = {}, .amounts = sums.now};
    if (sums.is_in_baseline) compared.baseline = sums.before;
    if (Finding* finding = hold(index, metric, compared); finding != nullptr) {
      finding->path = growth_.path_of_context(limit.context, metric, limit.of);
    }
  }

  const Profile& profile_;
  const Baseline& baseline_;
  const Limits& limits_;
  const Growth growth_;
  std::unordered_map<std::string, const Sum*> baseline_methods_;
  CheckResult result_;
};

}  // namespace

Result<CheckResult> check(const Profile& profile, const Baseline& baseline, const Limits& limits) {
  TRY(check_comparable(profile, baseline, limits));
  return Check(without(profile, limits.allowed), baseline, limits).run();
}

}  // namespace sonde::gate
