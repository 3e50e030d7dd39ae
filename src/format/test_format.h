// SPDX-License-Identifier: Apache-2.0
// For tests of formats: what a writer writes, as text; a profile that has everything.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "format/sink.h"
#include "profile/test_profile.h"

namespace sonde::format {

using Write = std::function<bool(const profile::Profile&, const Sink&)>;

inline std::string written(const Write& write, const profile::Profile& profile) {
  std::string text;
  EXPECT_TRUE(write(profile, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

// A writer of formats with one value per stack.
template <typename WriteMetric>
Write with_metric(WriteMetric write, profile::Metric metric) {
  return [=](const profile::Profile& profile, const Sink& sink) { return write(profile, metric, sink); };
}

// All metrics of the contexts of a drawing: samples as many as bytecodes, CPU time 10 ms for each, half of the wall
// time.
inline profile::Profile sampled_profile(std::string_view drawing) {
  using profile::Metric;
  profile::Profile profile = profile::drawn_profile(drawing);
  for (std::uint32_t node = 0; node < profile.tree.size(); ++node) {
    const std::uint64_t samples = profile.tree.value(Metric::kBytecodes, node);
    profile.tree.column(Metric::kSamples)[node] = samples;
    profile.tree.column(Metric::kCpuNs)[node] = samples * 10'000'000;
    profile.tree.column(Metric::kWallNs)[node] = samples * 20'000'000;
  }
  return profile;
}

}  // namespace sonde::format
