// SPDX-License-Identifier: Apache-2.0
#include "agent/session/published_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace sonde::agent {
namespace {

struct Square {
  std::uint64_t key;
  std::uint64_t value;
};

template <unsigned kBits>
void add(PublishedTable<Square, kBits>& table, std::uint64_t key, std::uint64_t value) {
  table.add(std::make_unique<const Square>(Square{.key = key, .value = value}));
}

TEST(PublishedTable, FindsWhatWasAdded) {
  PublishedTable<Square, 8> table;
  EXPECT_EQ(table.find(3), nullptr);
  for (std::uint64_t i = 1; i <= 100; ++i) add(table, i, i * i);
  for (std::uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(table.find(i)->value, i * i);
  EXPECT_EQ(table.find(101), nullptr);
}

TEST(PublishedTable, ReplacesWhatHasTheSameKey) {
  PublishedTable<Square, 8> table;
  add(table, 7, 1);
  const Square* old = table.find(7);
  add(table, 7, 49);
  EXPECT_EQ(table.find(7)->value, 49U);
  EXPECT_EQ(old->value, 1U) << "somebody may still be reading it";
}

TEST(PublishedTable, ForgetsSomeWhereThereIsNoRoomAndNeverLies) {
  PublishedTable<Square, 4> table;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    add(table, i, i * i);
    if (i < table.kMost) {
      ASSERT_NE(table.find(i), nullptr) << i;
    }
  }
  std::size_t known = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const Square* found = table.find(i);
    if (found == nullptr) continue;
    EXPECT_EQ(found->value, i * i);
    ++known;
  }
  EXPECT_LE(known, 16U);
  EXPECT_EQ(table.find(table.kMost + 1), nullptr) << "it is full for good";
}

TEST(PublishedTable, IsReadWhileItIsWritten) {
  PublishedTable<Square, 6> table;
  std::atomic<bool> is_over{false};
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    while (!is_over.load()) {
      for (std::uint64_t i = 1; i <= 200; ++i) {
        const Square* found = table.find(i);
        if (found != nullptr && found->value != i * i) ++wrong;
      }
    }
  });
  for (std::uint64_t i = 1; i <= 200; ++i) add(table, i, i * i);
  is_over = true;
  reader.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace sonde::agent
