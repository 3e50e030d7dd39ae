// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the sampler's decoding lock held. The stack of a thread's last sample, as it was written and
// as it was decoded. The next sample refers to it for the frames that both have (RawSample::same_first), and what lies
// further out than the innermost difference need not be decoded again.
//
// Samples of a thread are read in the order in which they were written. The number of each tells that none is missing;
// if one is, samples that refer to it are told to be broken, until one comes that refers to none.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/sampler/stack_decoder.h"

namespace sonde::agent {

class DecodedStack {
 public:
  // The thread's next sample. False if it has frames of one that is not at hand: then only those further in are there.
  bool update(const RawSample& sample, StackDecoder& decoder);

  // All innermost first.
  [[nodiscard]] const std::vector<RawFrame>& entries() const { return now_.entries; }
  [[nodiscard]] const std::vector<std::uint16_t>& counts() const { return now_.counts; }  // frames of each entry
  [[nodiscard]] const std::vector<StackFrame>& frames() const { return now_.frames; }

 private:
  struct Stack {
    std::vector<RawFrame> entries;
    std::vector<std::uint16_t> counts;
    std::vector<StackFrame> frames;
  };

  bool expand(const RawSample& sample);
  [[nodiscard]] std::size_t same_entries() const;

  Stack now_;
  Stack before_;
  std::uint64_t number_ = 0;  // of the sample in now_
  bool is_whole_ = false;     // now_ has all of its entries
};

}  // namespace sonde::agent
