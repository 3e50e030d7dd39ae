// SPDX-License-Identifier: Apache-2.0
#include "agent/session/generations.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sonde::agent {
namespace {

struct Thing {
  Thing(int n, std::atomic<int>& count) : number(n), alive(count) { ++alive; }
  ~Thing() {
    number = -1;
    --alive;
  }
  Thing(const Thing&) = delete;
  Thing& operator=(const Thing&) = delete;
  int number;
  std::atomic<int>& alive;
};

TEST(Generations, HaveNothingAtFirst) {
  Generations<Thing> things;
  EXPECT_EQ(Generations<Thing>::Use(things).get(), nullptr);
}

TEST(Generations, AnOldOneLivesAsLongAsItIsUsed) {
  std::atomic<int> alive{0};
  Generations<Thing> things;
  things.replace(nullptr, std::make_unique<Thing>(1, alive));
  {
    const Generations<Thing>::Use first(things);
    things.replace(first.get(), std::make_unique<Thing>(2, alive));
    EXPECT_EQ(first.get()->number, 1);
    EXPECT_EQ(Generations<Thing>::Use(things).get()->number, 2);
    EXPECT_EQ(alive, 2);
    things.replace(first.get(), std::make_unique<Thing>(3, alive));
    EXPECT_EQ(Generations<Thing>::Use(things).get()->number, 2) << "somebody else was first";
  }
  const Thing* second = Generations<Thing>::Use(things).get();
  things.replace(second, std::make_unique<Thing>(4, alive));
  EXPECT_EQ(alive, 1);
}

TEST(Generations, NobodySeesOneThatIsGone) {
  std::atomic<int> alive{0};
  {
    Generations<Thing> things;
    things.replace(nullptr, std::make_unique<Thing>(0, alive));
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 20'000; ++n) {
          const Generations<Thing>::Use use(things);
          ASSERT_GE(use.get()->number, 0);
          if (n % 64 == 0) things.replace(use.get(), std::make_unique<Thing>(n, alive));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const Thing* last = Generations<Thing>::Use(things).get();
    things.replace(last, std::make_unique<Thing>(0, alive));
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace sonde::agent
