// SPDX-License-Identifier: Apache-2.0
// Numbers for keys in the order of their first use: 0, 1, 2 … For millions of keys: a table with linear probing whose
// places hold a number and half of a hash, so that most lookups touch one place and the key itself. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde {

// Hash gives 64 bits, all of which must depend on the key.
template <typename Key, typename Hash>
class Numbering {
 public:
  // The number of a key, and whether it is new.
  std::pair<std::uint32_t, bool> number_of(const Key& key) {
    if (2 * (keys_.size() + 1) > places_.size()) grow();
    const std::uint64_t hash = Hash()(key);
    for (std::size_t place = hash & (places_.size() - 1);; place = (place + 1) & (places_.size() - 1)) {
      Place& found = places_[place];
      if (found.number == kFree) {
        found = {.number = static_cast<std::uint32_t>(keys_.size()), .tag = static_cast<std::uint32_t>(hash >> 32)};
        keys_.push_back(key);
        return {found.number, true};
      }
      if (found.tag == static_cast<std::uint32_t>(hash >> 32) && keys_[found.number] == key)
        return {found.number, false};
    }
  }
  [[nodiscard]] const Key& key(std::uint32_t number) const { return keys_[number]; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::size_t kFirstSize = 1024;
  struct Place {
    std::uint32_t number = kFree;
    std::uint32_t tag = 0;
  };

  void grow() {
    places_.assign(places_.empty() ? kFirstSize : 4 * places_.size(), {});
    for (std::uint32_t number = 0; number < keys_.size(); ++number) {
      const std::uint64_t hash = Hash()(keys_[number]);
      std::size_t place = hash & (places_.size() - 1);
      while (places_[place].number != kFree) place = (place + 1) & (places_.size() - 1);
      places_[place] = {.number = number, .tag = static_cast<std::uint32_t>(hash >> 32)};
    }
  }

  std::vector<Key> keys_;
  std::vector<Place> places_;  // a power of two, at least half of them free
};

}  // namespace sonde
