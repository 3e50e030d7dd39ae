// SPDX-License-Identifier: Apache-2.0
// How far two profiles agree, after Binder, "Portable and accurate sampling profiling for Java", section 7.1: each
// context has a share of its profile's sum, and the overlap is the sum, over the contexts that both have, of the
// smaller share. Since only shares are compared, the metrics may differ: samples of one, bytecodes of the other.
//
// A context is a sequence of methods (path_hash.h); contexts that differ in their call sites are one.
#pragma once

#include <cstdint>

#include "base/method_filter.h"
#include "profile/profile.h"

namespace sonde::profile {

struct Measured {
  const Profile& profile;
  Metric metric;
};

struct OverlapOptions {
  // Methods that are not accepted leave the stacks, and what they did themselves is left out: shares are those of the
  // rest.
  MethodFilter filter;
  bool by_thread = false;  // contexts of threads with different names are different ones
};

struct Overlap {
  struct Side {
    std::uint64_t sum = 0;
    std::uint64_t contexts = 0;  // with a value that is not 0
  };
  double percent = 0;  // 0 if one of the sums is
  Side a;
  Side b;
  std::uint64_t common_contexts = 0;
};

Overlap overlap(const Measured& a, const Measured& b, const OverlapOptions& options = {});

}  // namespace sonde::profile
