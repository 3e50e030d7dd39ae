// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/sample_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sonde::agent {
namespace {

// A sample that can be told from all others and checked to be whole.
bool write(SampleRing& ring, std::uint64_t number, std::uint16_t depth) {
  RawSample* sample = ring.try_reserve();
  if (sample == nullptr) return false;
  *sample = {};
  sample->depth = depth;
  sample->time_ns = number;
  for (std::uint16_t i = 0; i < depth; ++i) sample->frames()[i] = {.what = number, .detail = i};
  sample->size = static_cast<std::uint32_t>(sizeof(RawSample) + depth * sizeof(RawFrame));
  ring.publish(sample);
  return true;
}

void expect_whole(const RawSample& sample) {
  for (std::uint16_t i = 0; i < sample.depth; ++i) {
    ASSERT_EQ(sample.frames()[i].what, sample.time_ns);
    ASSERT_EQ(sample.frames()[i].detail, i);
  }
}

TEST(SampleRing, GivesBackWhatWasWrittenInOrder) {
  SampleRing ring;
  ASSERT_TRUE(ring.map());
  std::uint64_t expected = 0;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    ASSERT_TRUE(write(ring, number, static_cast<std::uint16_t>(number % 500)));
    if (number % 3 != 0) continue;
    ring.drain([&](const RawSample& sample) {
      EXPECT_EQ(sample.time_ns, expected++);
      expect_whole(sample);
    });
  }
  ring.drain([&](const RawSample& sample) { EXPECT_EQ(sample.time_ns, expected++); });
  EXPECT_EQ(expected, 5000U);
}

TEST(SampleRing, RefusesWhatDoesNotFitAndLosesNothingElse) {
  SampleRing ring;
  ASSERT_TRUE(ring.map());
  std::uint64_t written = 0;
  while (write(ring, written, kMaxDepth)) ++written;
  EXPECT_GT(written, 20U);
  std::uint64_t read = 0;
  ring.drain([&](const RawSample& sample) {
    EXPECT_EQ(sample.time_ns, read++);
    expect_whole(sample);
  });
  EXPECT_EQ(read, written);
  EXPECT_TRUE(write(ring, 0, kMaxDepth));
}

TEST(SampleRing, ThreadThatIsVisitedOftenTouchesLittleMemory) {
  SampleRing ring;
  ASSERT_TRUE(ring.map());
  for (std::uint64_t number = 0; number < 10000; ++number) {
    ASSERT_TRUE(write(ring, number, 50));
    ring.drain([](const RawSample&) {});
  }
  EXPECT_LT(ring.touched(), 4096U);
}

TEST(SampleRing, TellsHowFullItWas) {
  SampleRing ring;
  ASSERT_TRUE(ring.map());
  const auto ignore = [](const RawSample&) {};
  EXPECT_EQ(ring.drain(ignore), 0U);
  for (std::uint64_t number = 0; number < 10; ++number) ASSERT_TRUE(write(ring, number, 100));
  EXPECT_EQ(ring.drain(ignore), 10 * (sizeof(RawSample) + 100 * sizeof(RawFrame)));
  EXPECT_EQ(ring.drain(ignore), 0U);
}

TEST(SampleRing, ReaderAndWriterMayMeetAnywhere) {
  SampleRing ring;
  ASSERT_TRUE(ring.map());
  std::atomic<bool> done{false};
  std::uint64_t written = 0;
  std::thread writer([&] {
    for (std::uint64_t number = 0; number < 300'000; ++number) {
      if (write(ring, written, static_cast<std::uint16_t>(number % 40))) ++written;
    }
    done.store(true);
  });
  std::uint64_t read = 0;
  const auto drain = [&] {
    ring.drain([&](const RawSample& sample) {
      ASSERT_EQ(sample.time_ns, read++);
      expect_whole(sample);
    });
  };
  while (!done.load()) drain();
  writer.join();
  drain();
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace sonde::agent
