// SPDX-License-Identifier: Apache-2.0
// Who calls some methods, and whom they call. The methods are taken as one thing: a call from one of them to another is
// recursion. Totals count recursion once, as in sums.h, so that the totals of all callers add up to the total of the
// methods: a call that happens below another call of the methods gives its caller the number of calls and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/sums.h"

namespace sonde::profile {

struct Neighbour {
  MethodId method;          // kRootMethod: the thread itself
  std::uint64_t calls = 0;  // between it and the focused methods
  Amounts total;            // of these calls, with everything below them
};

struct Focus {
  Sum sum;  // of the focused methods
  std::vector<Neighbour> callers;
  std::vector<Neighbour> callees;
};

// `is_focused` by method. Neighbours are in the order of their methods.
Focus focus_on(const Profile& profile, std::span<const Thread* const> threads, const std::vector<bool>& is_focused);

}  // namespace sonde::profile
