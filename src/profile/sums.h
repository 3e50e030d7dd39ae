// SPDX-License-Identifier: Apache-2.0
// Sums over contexts: by method, class, package, thread or line. `self` is what happened in the thing itself, `total`
// adds everything it called. Recursion counts once: a context below another one of the same thing is part of the total
// of the outer one already, so only the outer one is added.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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
      case Metric::kCpuNs: return cpu_ns;
      case Metric::kWallNs: return wall_ns;
      case Metric::kSamples: return samples;
      default: return bytecodes;
    }
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

// Of one node, without what it called.
inline Amounts amounts_of(const CallTree& tree, std::uint32_t node) {
  return {.calls = tree.calls[node],
          .bytecodes = tree.bytecodes[node],
          .cpu_ns = tree.cpu_ns[node],
          .wall_ns = tree.wall_ns[node],
          .samples = tree.samples[node]};
}

struct Sum {
  Amounts self;
  Amounts total;
};

enum class Grouping : std::uint8_t { kMethod, kClass, kPackage, kThread, kLine, kState };

struct SumRow {
  std::string name;  // "java.util.HashMap.put", "java.util.HashMap", "java.util", "main", "Map.java:17" …
  MethodId method;   // one of those in the row; kRootMethod for threads. For a line, the method it is in
  std::uint16_t line = 0;
  Sum sum;
};

// By MethodId.
std::vector<Sum> sums_by_method(const Profile& profile);

// One row per thing that occurs in one of `threads`, in no particular order. Things are the same if their names are:
// two overloads are two rows, two threads of one name are one. A line stands for the calls made from it: its self value
// is that of the methods called there, since bytecodes are counted per method.
std::vector<SumRow> sums_by(const Profile& profile, std::span<const Thread* const> threads, Grouping grouping);

// Of all nodes of these threads.
Amounts sum_of(const Profile& profile, std::span<const Thread* const> threads);

}  // namespace sonde::profile
