// SPDX-License-Identifier: Apache-2.0
// What a program cost when it was found good, as a text file that lives in a repository: small, one fact per line, in
// an order that does not depend on the numbers, so that a change of one method is a change of few lines.
//
//   sonde baseline 1
//   program com.acme.Main --fast
//   jdk 17.0.21+9
//   mode exact precise jdk                 what numbers must agree in to be compared
//   allow thread ForkJoinPool*             what was left out
//   min-percent 0.1                        smaller things are folded
//   metrics calls bytecodes
//   sum 3347 172039
//   methods                                self per metric, total per metric, name
//   500 90000 500 90000 java/io/BufferedReader.readLine()Ljava/lang/String;
//   contexts                               self per metric, name; indented below its caller
//   1 120 com/acme/Main.main([Ljava/lang/String;)V
//     500 90000 java/io/BufferedReader.readLine()Ljava/lang/String;
//     12 30 [folded]
//
// Numbers are whole; a name goes to the end of its line. Empty lines and lines that start with # say nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/limits.h"
#include "profile/sums.h"

namespace sonde::gate {

inline constexpr std::string_view kFoldedName = "[folded]";

struct Baseline {
  struct Method {
    std::string name;  // Profile::full_name
    profile::Sum sum;
    bool operator==(const Method&) const = default;
  };
  std::string program;
  std::string jdk;
  std::string mode;              // comparable_mode
  std::vector<Allowed> allowed;  // without reasons
  double min_percent = 0;
  std::vector<profile::Metric> metrics;
  profile::Amounts sum;
  std::vector<Method> methods;  // those with at least min_percent, by name
  // One thread with the contexts that have as much work, 64 deep at most, all threads put together. Methods are full
  // names, without classes.
  profile::Profile contexts;

  // No method that the file does not hold had more than this, and no context more bytecodes or samples.
  [[nodiscard]] std::uint64_t fold_bound(profile::Metric metric) const;
};

// "exact precise jdk": recordings that differ in it count different things.
std::string comparable_mode(const profile::Recording& recording);

// Without what is allowed to vary. Contexts that a limit speaks of are kept, however small they are.
Baseline make_baseline(const profile::Profile& recorded, const Limits& limits, double min_percent);

std::string text_of(const Baseline& baseline);
Result<Baseline> parse_baseline(std::string_view text);

}  // namespace sonde::gate
