// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/known_places.h"

#include <gtest/gtest.h>

#include <random>

namespace sonde::agent::hotspot {
namespace {

StackFrame frame(std::uint32_t method) { return {.method_id = method, .line = 1, .bci = 2}; }

TEST(KnownPlaces, KeepsTheFramesOfEachPlace) {
  KnownPlaces places;
  const Place place{.pc = 0x7000, .compile_id = 5, .is_interrupted = false};
  EXPECT_TRUE(places.find(place).empty());
  const std::vector<StackFrame> frames = {frame(1), frame(2), frame(3)};
  const auto added = places.add(place, frames);
  EXPECT_EQ(std::vector(added.begin(), added.end()), frames);
  const auto found = places.find(place);
  EXPECT_EQ(std::vector(found.begin(), found.end()), frames);
}

// The same address: of other code, later, or interrupted there and not returned to.
TEST(KnownPlaces, TellsPlacesOfOneAddressApart) {
  KnownPlaces places;
  const Place place{.pc = 0x7000, .compile_id = 5, .is_interrupted = false};
  const StackFrame one = frame(1);
  places.add(place, {&one, 1});
  EXPECT_TRUE(places.find({.pc = 0x7000, .compile_id = 6, .is_interrupted = false}).empty());
  EXPECT_TRUE(places.find({.pc = 0x7000, .compile_id = 5, .is_interrupted = true}).empty());
}

TEST(KnownPlaces, StartsAgainWhenItIsFull) {
  KnownPlaces places;
  std::mt19937_64 random(1);
  const auto place = [](std::uint64_t i) {
    return Place{.pc = 0x7f0000000000 + i * 3, .compile_id = i / 100, .is_interrupted = i % 2 == 0};
  };
  std::uint64_t largest = 0;
  for (std::uint32_t i = 1; i <= 3 * KnownPlaces::kMost; ++i) {
    const std::vector<StackFrame> frames(1 + i % 3, frame(i));
    places.add(place(i), frames);
    largest = std::max(largest, places.memory_bytes());
    // What is found is right; what was met last is there.
    const std::uint64_t some = i - random() % std::min<std::uint32_t>(i, 1000);
    const auto found = places.find(place(some));
    ASSERT_TRUE(found.empty() || (found.size() == 1 + some % 3 && found[0].method_id == some)) << i;
    ASSERT_FALSE(places.find(place(i)).empty());
  }
  EXPECT_LT(largest, std::uint64_t{24} << 20);
}

}  // namespace
}  // namespace sonde::agent::hotspot
