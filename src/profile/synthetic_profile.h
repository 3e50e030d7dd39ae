// SPDX-License-Identifier: Apache-2.0
// For benchmarks: a profile of a million contexts and 50,000 methods, shaped like those of real programs: paths up to
// 60 deep, few call sites with many callees, counts that fall off quickly.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "profile/profile.h"

namespace sonde::profile {

inline constexpr std::uint32_t kSyntheticNodes = 1'000'000;
inline constexpr std::uint32_t kSyntheticMethods = 50'000;

inline Profile synthetic_profile(std::uint64_t seed = 42) {
  std::mt19937_64 random(seed);
  Profile p;
  for (std::uint32_t i = 0; i < kSyntheticMethods / 10; ++i) {
    p.classes.push_back(
        {.name = "com/example/application/module" + std::to_string(i % 100) + "/Service" + std::to_string(i),
         .source_file = "Service" + std::to_string(i) + ".java"});
  }
  for (std::uint32_t i = 1; i < kSyntheticMethods; ++i) {
    p.methods.push_back({.cls = ClassId(1 + i / 10),
                         .name = "processRequest" + std::to_string(i % 10),
                         .descriptor = "(Ljava/lang/String;Ljava/util/Map;)V",
                         .first_line = static_cast<std::uint16_t>(10 + i % 10 * 40)});
  }
  p.threads.push_back({.name = "main"});
  p.tree.push_root();
  std::exponential_distribution<double> rank(12.0 / kSyntheticMethods);
  std::uint32_t depth = 0;
  for (std::uint32_t i = 1; i < kSyntheticNodes; ++i) {
    depth = depth < 60 && (depth == 0 || random() % 100 < 55) ? depth + 1
                                                              : depth - static_cast<std::uint32_t>(random() % depth);
    const auto method = 1 + static_cast<std::uint32_t>(rank(random)) % (kSyntheticMethods - 1);
    const auto calls = static_cast<std::uint64_t>(std::exp(static_cast<double>(random() % 1200) / 100));
    p.tree.push(depth, MethodId(method), static_cast<std::uint16_t>(10 + random() % 400),
                {{Metric::kCalls, calls}, {Metric::kBytecodes, calls * (1 + method % 200)}});
  }
  p.tree.seal().value();
  p.assign_threads().value();
  return p;
}

}  // namespace sonde::profile
