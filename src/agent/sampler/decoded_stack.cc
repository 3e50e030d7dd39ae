// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/decoded_stack.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde::agent {
namespace {

// What stands for the same frames whenever it is decoded. A Method* may be that of another method by now.
bool lasts(FrameKind kind) {
  return kind == FrameKind::kCompiled || kind == FrameKind::kLogged || kind == FrameKind::kMark;
}

}  // namespace

bool DecodedStack::update(const RawSample& sample, StackDecoder& decoder) {
  std::swap(now_, before_);
  is_whole_ = expand(sample);
  number_ = sample.number;
  if (is_whole_ && sample.check != 0 && check_sum(now_.entries) != sample.check) __builtin_trap();
  const std::size_t same = same_entries();
  now_.frames.clear();
  now_.counts.clear();
  decoder.decode(sample, {now_.entries.data(), now_.entries.size() - same}, now_.frames, now_.counts);
  const auto outer = before_.counts.end() - static_cast<std::ptrdiff_t>(same);
  const auto frames = std::accumulate(outer, before_.counts.end(), std::ptrdiff_t{0});
  now_.counts.insert(now_.counts.end(), outer, before_.counts.end());
  now_.frames.insert(now_.frames.end(), before_.frames.end() - frames, before_.frames.end());
  return is_whole_;
}

bool DecodedStack::expand(const RawSample& sample) {
  const RawFrame* own = sample.frames();
  now_.entries.assign(own, own + sample.same_at);
  if (sample.same_count != 0) {
    const std::size_t end = std::size_t{sample.same_first} + sample.same_count;
    if (!is_whole_ || number_ + 1 != sample.number || end > before_.entries.size()) return false;
    const auto first = before_.entries.begin() + sample.same_first;
    now_.entries.insert(now_.entries.end(), first, first + sample.same_count);
  }
  now_.entries.insert(now_.entries.end(), own + sample.same_at, own + sample.depth);
  return true;
}

// How many of the outermost entries both stacks have. The innermost one of each is not among them: what it stands for
// depends on the sample's registers, too.
std::size_t DecodedStack::same_entries() const {
  const std::size_t now = now_.entries.size();
  const std::size_t before = before_.entries.size();
  std::size_t same = 0;
  while (same + 1 < now && same + 1 < before) {
    const RawFrame& entry = now_.entries[now - 1 - same];
    if (!lasts(entry.kind()) || entry != before_.entries[before - 1 - same]) break;
    ++same;
  }
  return same;
}

}  // namespace sonde::agent
