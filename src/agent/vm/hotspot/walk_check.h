// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. With assertions on, each stack is walked three times: without the walk before, with it, and
// without it again. If the first and the last walk found the same, the one between must have, too, and whoever puts its
// frames together compares them (RawSample::check). If not, something changed meanwhile: the JVM wrote other return
// addresses into a thread that is not in Java, a collector moved frames of a virtual thread, or other threads freed
// code that the walk had to guess at. A walk that a collection keeps from
// reading such frames is not compared: collections come and go.
#pragma once

#include <cstdint>

#include "agent/sampler/raw_sample.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

#if defined(NDEBUG) || defined(SONDE_FAULT_INJECTION)

// Walk: WalkError (RawSample& empty), without the walk before.
template <typename Walk>
struct WalkCheck {
  WalkCheck(const Walk&, RawSample&) SIGNAL_SAFE {}
  void finish(RawSample&) SIGNAL_SAFE {}
};

#else

template <typename Walk>
class WalkCheck {
 public:
  WalkCheck(const Walk& walk, RawSample& sample) SIGNAL_SAFE : walk_(walk), before_(look(sample)) {}

  // The sample has room for the largest stack; if it took frames over, its own are few.
  void finish(RawSample& sample) SIGNAL_SAFE {
    constexpr std::uint32_t kRoom = (kMaxSampleSize - 2 * sizeof(RawSample)) / sizeof(RawFrame) - kMaxDepth;
    if (sample.same_count == 0 || sample.depth > kRoom) return;
    RawSample& again = *reinterpret_cast<RawSample*>(sample.frames() + sample.depth);
    again = {};
    again.kind = sample.kind;
    if (look(again) != before_ || before_.error == WalkError::kFrozen || sample.error == WalkError::kFrozen) return;
    if (sample.error != before_.error) __builtin_trap();
    sample.check = before_.sum;
  }

 private:
  struct Found {
    WalkError error;
    std::uint64_t sum;
    bool operator==(const Found&) const = default;
  };

  // Into a sample that is empty, and is left so.
  Found look(RawSample& sample) SIGNAL_SAFE {
    const RawSample empty = sample;
    const WalkError error = walk_(sample);
    const Found found{.error = error, .sum = check_sum({sample.frames(), sample.depth})};
    sample = empty;
    return found;
  }

  const Walk walk_;
  Found before_;
};

#endif

}  // namespace sonde::agent::hotspot
