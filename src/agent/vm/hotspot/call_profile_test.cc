// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/call_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace sonde::agent::hotspot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum CellsBeforeReceivers;

// Data of a method, as HotSpot keeps it: entries of a header and cells.
class Data {
 public:
  Data& entry(std::uint8_t tag, std::uint16_t bci, std::initializer_list<std::uint64_t> cells) {
    std::uint64_t header = tag;
    header |= std::uint64_t{bci} << 16;
    words_.push_back(header);
    words_.insert(words_.end(), cells);
    return *this;
  }
  [[nodiscard]] Bytes view() const {
    return {reinterpret_cast<const std::uint8_t*>(words_.data()), words_.size() * sizeof(std::uint64_t)};
  }

 private:
  std::vector<std::uint64_t> words_;
};

constexpr std::uint8_t kBit = 1, kCounter = 2, kJump = 3, kReceiver = 4, kVirtualCall = 5, kBranch = 7,
                       kMultiBranch = 8, kCallType = 10, kVirtualCallType = 11;

// 0 iload_0, 1 ifeq 11, 4 invokestatic, 7 goto 11, 10 nop, 11 aload_1, 12 checkcast, 15 invokevirtual, 18 return
const std::vector<std::uint8_t> kCode = {0x1a, 0x99, 0,    10, 0xb8, 0,    1, 0xa7, 0,   4,
                                         0,    0x2b, 0xc0, 0,  2,    0xb6, 0, 3,    0xb1};

Data data_of_code(std::uint64_t static_calls, std::uint64_t receiver, std::uint64_t other_calls) {
  return Data()
      .entry(kBranch, 1, {5, 10, 2})
      .entry(kCounter, 4, {static_calls})
      .entry(kJump, 7, {3, 4})
      .entry(kReceiver, 12, {0, 0, 0, 0, 0})
      .entry(kVirtualCall, 15, {other_calls, receiver, receiver == 0 ? 0u : 9u, 0, 0});
}

std::vector<std::uint64_t> receivers(const ProfiledCall& call) {
  std::vector<std::uint64_t> classes;
  for (const auto& [cls, count] : call.receivers) classes.push_back(cls);
  return classes;
}

std::vector<std::uint32_t> places(const std::optional<std::vector<ProfiledCall>>& calls) {
  std::vector<std::uint32_t> places;
  for (const ProfiledCall& call : calls.value()) places.push_back(call.pc.value());
  return places;
}

TEST(CallProfileTest, TellsWhichCallsHaveRun) {
  const auto calls = profiled_calls(data_of_code(7, 0x1000, 0).view(), kCode, kOne);
  EXPECT_THAT(places(calls), ElementsAre(4, 15));
  EXPECT_THAT(receivers(calls->at(0)), IsEmpty());
  EXPECT_EQ(calls->at(0).count, 7u);
  EXPECT_THAT(receivers(calls->at(1)), ElementsAre(0x1000));
  EXPECT_EQ(calls->at(1).count, 9u);
  EXPECT_THAT(places(profiled_calls(data_of_code(0, 0x1000, 0).view(), kCode, kOne)), ElementsAre(15));
  EXPECT_THAT(places(profiled_calls(data_of_code(7, 0, 0).view(), kCode, kOne)), ElementsAre(4));
  EXPECT_THAT(places(profiled_calls(data_of_code(0, 0, 3).view(), kCode, kOne)), ElementsAre(15));
}

TEST(CallProfileTest, ReceiversMayComeAfterTwoCells) {
  // 0 invokevirtual, 3 invokestatic, 6 return
  const std::vector<std::uint8_t> code = {0xb6, 0, 3, 0xb8, 0, 1, 0xb1};
  const Data data = Data().entry(kVirtualCall, 0, {1, 0, 0x1000, 5, 0x2000, 6}).entry(kCounter, 3, {1});
  EXPECT_EQ(profiled_calls(data.view(), code, kOne), std::nullopt);
  const auto calls = profiled_calls(data.view(), code, kTwo);
  EXPECT_THAT(places(calls), ElementsAre(0, 3));
  EXPECT_THAT(receivers(calls->at(0)), ElementsAre(0x1000, 0x2000));
  EXPECT_EQ(calls->at(0).count, 1u + 5 + 6);
}

TEST(CallProfileTest, EntriesWithTypesAreAsLongAsTheySay) {
  // 0 invokedynamic, 5 invokeinterface, 10 aastore, 11 invokestatic, 14 return
  const std::vector<std::uint8_t> code = {0xba, 0, 1, 0, 0, 0xb9, 0, 2, 1, 0, 0x53, 0xb8, 0, 3, 0xb1};
  const Data data = Data()
                        .entry(kCallType, 0, {1, 3, 0, 0, 0})
                        .entry(kVirtualCallType, 5, {0, 0x1000, 4, 0, 0, 2, 0, 0})
                        .entry(kBit, 10, {})
                        .entry(kCounter, 11, {1});
  EXPECT_THAT(places(profiled_calls(data.view(), code, kOne)), ElementsAre(0, 5, 11));
}

TEST(CallProfileTest, SwitchesHaveAsManyCellsAsTheySay) {
  // 0 iload_0, 1 lookupswitch: no cases, 12 invokestatic, 15 return
  const std::vector<std::uint8_t> code = {0x1a, 0xab, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0xb8, 0, 3, 0xb1};
  const Data data = Data().entry(kMultiBranch, 1, {2, 0, 0}).entry(kCounter, 12, {1});
  EXPECT_THAT(places(profiled_calls(data.view(), code, kOne)), ElementsAre(12));
}

TEST(CallProfileTest, DataOfOtherCodeSaysNothing) {
  const Data data = data_of_code(7, 0x1000, 0);
  std::vector<std::uint8_t> other = kCode;
  other[0] = 0xb8;  // a call where there is none
  EXPECT_EQ(profiled_calls(data.view(), other, kOne), std::nullopt);
  EXPECT_EQ(profiled_calls(data.view().first(32), kCode, kOne), std::nullopt);
  EXPECT_EQ(profiled_calls(Data().entry(kMultiBranch, 1, {~std::uint64_t{0}}).view(), kCode, kOne), std::nullopt);
}

}  // namespace
}  // namespace sonde::agent::hotspot
