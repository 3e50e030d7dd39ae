// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What was found out once, by a number: read by any thread without a lock, written by one at a time.
// Entries do not change, and stay as long as the table: somebody may be reading one that has been replaced. So there is
// an upper bound for how many there ever are, behind which nothing is added.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sonde::agent {

// Entry: has a `key` that is not 0.
template <typename Entry, unsigned kBits>
class PublishedTable {
 public:
  static constexpr std::size_t kMost = std::size_t{4} << kBits;

  [[nodiscard]] const Entry* find(std::uint64_t key) const {
    const std::size_t home = home_of(key);
    for (std::size_t i = 0; i < kProbes; ++i) {
      const Entry* entry = slots_[(home + i) % kSlots].load(std::memory_order_acquire);
      if (entry == nullptr || entry->key == key) return entry;
    }
    return nullptr;
  }

  // In place of the entry with the same key, if there is one; where there is no room, in place of another. False if
  // there were too many already.
  bool add(std::unique_ptr<const Entry> entry) {
    if (entries_.size() >= kMost) return false;
    const std::size_t home = home_of(entry->key);
    std::size_t place = home;
    for (std::size_t i = 0; i < kProbes; ++i) {
      const std::size_t slot = (home + i) % kSlots;
      const Entry* other = slots_[slot].load(std::memory_order_relaxed);
      if (other != nullptr && other->key != entry->key) continue;
      place = slot;
      break;
    }
    slots_[place].store(entry.get(), std::memory_order_release);
    entries_.push_back(std::move(entry));
    return true;
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static constexpr std::size_t kProbes = 8;
  static std::size_t home_of(std::uint64_t key) { return (key * 0x9e3779b97f4a7c15) >> (64 - kBits); }

  std::unique_ptr<std::atomic<const Entry*>[]> slots_ = std::make_unique<std::atomic<const Entry*>[]>(kSlots);
  std::vector<std::unique_ptr<const Entry>> entries_;
};

}  // namespace sonde::agent
