// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/kernel_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sonde::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kPage = 4096;
constexpr auto kOfKernel = static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);

// A file in the place of a perf event, and the test in that of the kernel.
class KernelStackTest : public testing::Test {
 protected:
  KernelStackTest() : event_(memfd_create("event", 0)) {
    EXPECT_EQ(ftruncate(event_, 2 * kPage), 0);
    EXPECT_TRUE(stack_.map(event_));
    pages_ = static_cast<std::uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, event_, 0));
  }
  ~KernelStackTest() override {
    munmap(pages_, 2 * kPage);
    close(event_);
  }

  perf_event_mmap_page& control() { return *reinterpret_cast<perf_event_mmap_page*>(pages_); }

  void put(std::uint64_t word) {
    std::memcpy(pages_ + kPage + control().data_head % kPage, &word, sizeof word);
    control().data_head += sizeof word;
  }
  void record(std::uint32_t type, const std::vector<std::uint64_t>& words) {
    put(std::uint64_t{type} | (8 + words.size() * 8) << 48);
    for (const std::uint64_t word : words) put(word);
  }
  void sample(const std::vector<std::uint64_t>& addresses) {
    std::vector<std::uint64_t> words{addresses.size()};
    words.insert(words.end(), addresses.begin(), addresses.end());
    record(PERF_RECORD_SAMPLE, words);
  }

  std::vector<std::uint64_t> take() {
    std::vector<std::uint64_t> addresses(kMaxKernelDepth);
    addresses.resize(stack_.take(addresses.data()));
    return addresses;
  }

  int event_;
  std::uint8_t* pages_;
  KernelStack stack_;
};

TEST_F(KernelStackTest, AddressesComeWithoutTheMarkOfTheKernel) {
  sample({kOfKernel, 0xffffffff81000010, 0xffffffff81000020});
  EXPECT_THAT(take(), ElementsAre(0xffffffff81000010, 0xffffffff81000020));
}

TEST_F(KernelStackTest, AThreadThatWasNotInTheKernelHasNone) {
  sample({0xffffffff81000010});
  take();
  sample({});
  EXPECT_THAT(take(), IsEmpty()) << "not those of the sample before";
  EXPECT_THAT(take(), IsEmpty()) << "nothing was written";
}

TEST_F(KernelStackTest, TheNewestOfSeveralCounts) {
  sample({0xffffffff81000010});
  sample({0xffffffff81000020});
  record(PERF_RECORD_LOST, {7, 1});
  EXPECT_THAT(take(), ElementsAre(0xffffffff81000020));
  EXPECT_EQ(control().data_tail, control().data_head) << "the kernel has room again";
}

TEST_F(KernelStackTest, RecordsGoOnAtTheFrontOfThePage) {
  for (std::uint64_t i = 1; i < 500; ++i) {
    sample({kOfKernel, i, i + 1, i + 2});
    ASSERT_THAT(take(), ElementsAre(i, i + 1, i + 2));
  }
}

TEST_F(KernelStackTest, DeepStacksAreCut) {
  sample(std::vector<std::uint64_t>(127, 0xffffffff81000010));
  EXPECT_THAT(take(), SizeIs(kMaxKernelDepth));
}

TEST_F(KernelStackTest, RecordsWithoutASizeEndTheSearch) {
  put(0);
  sample({0xffffffff81000010});
  EXPECT_THAT(take(), IsEmpty());
  sample({0xffffffff81000020});
  EXPECT_THAT(take(), ElementsAre(0xffffffff81000020));
}

TEST(KernelStack, WithoutMemoryThereIsNothing) {
  KernelStack stack;
  EXPECT_FALSE(stack.map(-1));
  EXPECT_FALSE(stack.is_mapped());
  std::uint64_t address = 0;
  EXPECT_EQ(stack.take(&address), 0);
}

// A slot may be given up by another thread than its own, which may be taking a sample.
TEST_F(KernelStackTest, PagesMayGoWhileAddressesAreTaken) {
  std::atomic<bool> is_over = false;
  std::thread taker([&] {
    std::uint64_t addresses[kMaxKernelDepth];
    while (!is_over) EXPECT_EQ(stack_.take(addresses), 0);
  });
  for (int i = 0; i < 20'000; ++i) {
    stack_.unmap();
    ASSERT_TRUE(stack_.map(event_));
  }
  is_over = true;
  taker.join();
}

}  // namespace
}  // namespace sonde::agent
