// SPDX-License-Identifier: Apache-2.0
// Sums over contexts: by method, class, package, thread, line or call site. `self` is what happened in the thing
// itself, `total` adds everything it called. Recursion counts once: a context below another one of the same thing is
// part of the total of the outer one already, so only the outer one is added.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/method_filter.h"
#include "profile/profile.h"

namespace sonde::profile {

struct Amounts {
  std::uint64_t calls = 0;
  std::uint64_t bytecodes = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t samples = 0;

  [[nodiscard]] std::uint64_t of(Metric metric) const {
    switch (metric) {
      case Metric::kCalls: return calls;
      case Metric::kBytecodes: return bytecodes;
      case Metric::kCpuNs: return cpu_ns;
      case Metric::kWallNs: return wall_ns;
      case Metric::kSamples: break;
    }
    return samples;
  }
  [[nodiscard]] std::uint64_t& of(Metric metric) {
    switch (metric) {
      case Metric::kCalls: return calls;
      case Metric::kBytecodes: return bytecodes;
      case Metric::kCpuNs: return cpu_ns;
      case Metric::kWallNs: return wall_ns;
      case Metric::kSamples: break;
    }
    return samples;
  }
  Amounts& operator+=(const Amounts& other) {
    calls += other.calls;
    bytecodes += other.bytecodes;
    cpu_ns += other.cpu_ns;
    wall_ns += other.wall_ns;
    samples += other.samples;
    return *this;
  }
  bool operator==(const Amounts&) const = default;
};

// What a context has itself.
inline Amounts amounts_of(const CallTree& tree, std::uint32_t node) {
  return {.calls = tree.calls[node],
          .bytecodes = tree.bytecodes[node],
          .cpu_ns = tree.cpu_ns[node],
          .wall_ns = tree.wall_ns[node],
          .samples = tree.samples[node]};
}
// Adds a node to a tree that is being made.
inline void push(CallTree& tree, std::uint32_t depth, MethodId method, std::uint16_t line, const Amounts& self) {
  tree.push(depth, method, line, self.calls, self.bytecodes, self.samples);
  tree.cpu_ns.back() = self.cpu_ns;
  tree.wall_ns.back() = self.wall_ns;
}

// What contexts have with everything below them, in constant time each.
class Totals {
 public:
  explicit Totals(const CallTree& tree)
      : tree_(tree),
        calls_(tree.calls),
        bytecodes_(tree.bytecodes),
        cpu_ns_(tree.cpu_ns),
        wall_ns_(tree.wall_ns),
        samples_(tree.samples) {}
  [[nodiscard]] Amounts of(std::uint32_t node) const {
    const std::uint32_t end = tree_.end_of(node);
    return {.calls = calls_.between(node, end),
            .bytecodes = bytecodes_.between(node, end),
            .cpu_ns = cpu_ns_.between(node, end),
            .wall_ns = wall_ns_.between(node, end),
            .samples = samples_.between(node, end)};
  }

 private:
  const CallTree& tree_;
  PrefixSums calls_;
  PrefixSums bytecodes_;
  PrefixSums cpu_ns_;
  PrefixSums wall_ns_;
  PrefixSums samples_;
};

struct Sum {
  Amounts self;
  Amounts total;
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
