// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Which frames a place in compiled code stands for. Each sample is at some
// place, most of them at one that was met before, long enough ago to be in no cache any more: an entry and its frames
// are two accesses to memory. Of bounded size: what does not fit makes the table start again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/session/sample_trees.h"

namespace sonde::agent::hotspot {

struct Place {
  std::uint64_t pc;
  std::uint64_t compile_id;  // which is never used twice
  bool is_interrupted;       // else it is a return address
  bool operator==(const Place&) const = default;
};

class KnownPlaces {
 public:
  static constexpr std::size_t kMost = 1 << 17;

  // Nothing: it is not known. Good until the next one is added.
  [[nodiscard]] std::span<const StackFrame> find(const Place& place) const {
    if (entries_.empty()) return {};
    const Entry& entry = entries_[index_of(place)];
    return {frames_.data() + entry.first, entry.count};
  }

  // One that is not known. `frames`: one at least.
  std::span<const StackFrame> add(const Place& place, std::span<const StackFrame> frames) {
    if (used_ == kMost) clear();
    if ((used_ + 1) * 2 > entries_.size()) enlarge();
    ++used_;
    entries_[index_of(place)] = {.place = place,
                                 .first = static_cast<std::uint32_t>(frames_.size()),
                                 .count = static_cast<std::uint32_t>(frames.size())};
    frames_.insert(frames_.end(), frames.begin(), frames.end());
    return {frames_.end() - static_cast<std::ptrdiff_t>(frames.size()), frames_.end()};
  }

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return entries_.size() * sizeof(Entry) + frames_.capacity() * sizeof(StackFrame);
  }

 private:
  static constexpr std::size_t kFirst = 1 << 10;

  struct Entry {
    Place place{};
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // 0: nobody is here
  };

  // Where it is, or an empty entry for it.
  [[nodiscard]] std::size_t index_of(const Place& place) const {
    const std::uint64_t hash =
        ((place.pc << 1 | (place.is_interrupted ? 1 : 0)) ^ place.compile_id << 48) * 0x9e3779b97f4a7c15;
    const std::size_t mask = entries_.size() - 1;
    std::size_t i = (hash ^ hash >> 32) & mask;
    while (entries_[i].count != 0 && entries_[i].place != place) i = (i + 1) & mask;
    return i;
  }

  void enlarge() {
    const std::vector<Entry> old = std::move(entries_);
    entries_.assign(old.empty() ? kFirst : old.size() * 2, {});
    for (const Entry& entry : old) {
      if (entry.count != 0) entries_[index_of(entry.place)] = entry;
    }
  }

  void clear() {
    entries_.assign(kFirst, {});
    frames_.clear();
    used_ = 0;
  }

  std::vector<Entry> entries_;  // a power of two of them, at most half of them in use
  std::vector<StackFrame> frames_;
  std::size_t used_ = 0;
};

}  // namespace sonde::agent::hotspot
