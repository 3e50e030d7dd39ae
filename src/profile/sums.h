// SPDX-License-Identifier: Apache-2.0
// Sums over contexts: by method, class, package, thread, line or call site. `self` is what happened in the thing
// itself, `total` adds everything it called. Recursion counts once: a context below another one of the same thing is
// part of the total of the outer one already, so only the outer one is added.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/method_filter.h"
#include "profile/profile.h"

namespace sonde::profile {

// What contexts have with everything below them, in constant time each.
class Totals {
 public:
  explicit Totals(const CallTree& tree) : tree_(tree) {
    for (const MetricInfo& info : kMetrics) {
      if (!tree.values(info.metric).empty()) sums_.emplace_back(info.metric, PrefixSums(tree.values(info.metric)));
    }
  }
  [[nodiscard]] Amounts of(std::uint32_t node) const {
    Amounts totals;
    for (const auto& [metric, sums] : sums_) totals.of(metric) = sums.between(node, tree_.end_of(node));
    return totals;
  }

 private:
  const CallTree& tree_;
  std::vector<std::pair<Metric, PrefixSums>> sums_;  // of the metrics that there are
};

struct Sum {
  Amounts self;
  Amounts total;
  // Samples that saw a context which the thread's sample before did not: calls, at least.
  std::uint64_t visits = 0;
  bool operator==(const Sum&) const = default;
};

enum class Grouping : std::uint8_t { kMethod, kClass, kPackage, kThread, kLine, kCallsite, kState };

struct SumRow {
  std::string name;  // "java.util.HashMap.put", "java.util.HashMap", "java.util", "main"; of lines and call sites "":
                     // places.h names them
  MethodId method;   // one of those in the row; kRootMethod for threads. For a line, the method it is in
  MethodId caller;   // of a call site; `method` is the callee
  std::uint16_t line = 0;
  Sum sum;
};

// By MethodId.
std::vector<Sum> sums_by_method(const Profile& profile);

// One row per thing that occurs in one of `threads`, in no particular order. Things are the same if their names are:
// two overloads are two rows, two threads of one name are one. A line stands for the calls made from it: its self value
// is that of the methods called there, since bytecodes are counted per method. A call site is a line and one of the
// methods called there.
std::vector<SumRow> sums_by(const Profile& profile, std::span<const Thread* const> threads, Grouping grouping);

// What a method belongs to: itself (its full name), its class or its package, as the rows of sums_by are named.
std::string name_in(const Profile& profile, MethodId id, Grouping grouping);
// Those of which the filter accepts a method.
std::unordered_set<std::string> accepted_names(const Profile& profile, const MethodFilter& filter, Grouping grouping);

// Of all nodes of these threads.
Amounts sum_of(const Profile& profile, std::span<const Thread* const> threads);

}  // namespace sonde::profile
