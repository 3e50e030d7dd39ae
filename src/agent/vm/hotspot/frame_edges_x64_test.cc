// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/frame_edges_x64.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::agent::hotspot {
namespace {

using Code = std::vector<std::vector<std::uint8_t>>;  // instructions

// One letter for each instruction: w(hole), p(ushed), n(one), u(nsaved), ? (uncertain). Behind a slash x for those that
// are edges.
std::string edges_and_marks(const Code& code, std::size_t prologue, std::int32_t frame_words) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets;
  std::int32_t frame_complete = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (i == prologue) frame_complete = static_cast<std::int32_t>(bytes.size());
    offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    bytes.insert(bytes.end(), code[i].begin(), code[i].end());
  }
  const FrameEdges found({.begin = bytes.data(),
                          .size = static_cast<std::uint32_t>(bytes.size()),
                          .frame_complete = frame_complete,
                          .frame_words = frame_words});
  std::string text;
  for (const std::int64_t offset : offsets) text += "wpnu?"[static_cast<std::size_t>(found.at(offset))];
  text += '/';
  for (const std::int64_t offset : offsets) text += found.is_edge(offset) ? 'x' : '.';
  return text;
}
std::string edges(const Code& code, std::size_t prologue, std::int32_t frame_words) {
  const std::string both = edges_and_marks(code, prologue, frame_words);
  return both.substr(0, both.find('/'));
}

const std::vector<std::uint8_t> kBang = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff};  // mov [rsp - 0x14000], eax
const std::vector<std::uint8_t> kPush = {0x55};                                      // push rbp
const std::vector<std::uint8_t> kMove = {0x48, 0x8b, 0xec};                          // mov rbp, rsp
const std::vector<std::uint8_t> kSub32 = {0x48, 0x83, 0xec, 0x20};                   // sub rsp, 32
const std::vector<std::uint8_t> kBarrier = {0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0};     // cmp dword [r15 + 32], 1
const std::vector<std::uint8_t> kJne = {0x0f, 0x85, 0x10, 0, 0, 0};
const std::vector<std::uint8_t> kAdd32 = {0x48, 0x83, 0xc4, 0x20};  // add rsp, 32
const std::vector<std::uint8_t> kPop = {0x5d};
const std::vector<std::uint8_t> kPoll = {0x49, 0x3b, 0xa7, 0x48, 0x04, 0, 0};  // cmp rsp, [r15 + 0x448]
const std::vector<std::uint8_t> kShortPoll = {0x49, 0x3b, 0x67, 0x28};
const std::vector<std::uint8_t> kJa = {0x0f, 0x87, 0x10, 0, 0, 0};
const std::vector<std::uint8_t> kRet = {0xc3};
const std::vector<std::uint8_t> kNop = {0x90};

// The frame is there while the barrier at method entry runs, though what HotSpot calls the prologue is not over.
TEST(FrameEdges, FollowTheInstructionsOfAPrologue) {
  EXPECT_EQ(edges({kNop, kBang, kPush, kSub32, kBarrier, kJne, kNop}, 6, 6), "nnnpwww");
  EXPECT_EQ(edges({kBang, kPush, kMove, kSub32, kBarrier, kJne, kNop}, 6, 6), "nnppwww");
  EXPECT_EQ(edges({kBang, kPush, kSub32, kNop}, 3, 6), "nnpw");
}

TEST(FrameEdges, AFrameWithoutBangIsMadeFirst) {
  const std::vector<std::uint8_t> sub40 = {0x48, 0x81, 0xec, 0x28, 0, 0, 0};
  const std::vector<std::uint8_t> save = {0x48, 0x89, 0x6c, 0x24, 0x20};  // mov [rsp + 32], rbp
  EXPECT_EQ(edges({kNop, sub40, save, kBarrier, kJne, kNop}, 5, 6), "nnuwww");
}

// `sub rsp, 32` is not what makes a frame of eight words.
TEST(FrameEdges, AnotherPrologueIsUncertain) {
  EXPECT_EQ(edges({kBang, kPush, kSub32, kNop}, 3, 8), "???w");
  EXPECT_EQ(edges({kBang, kPush, kBarrier, kJne, kNop}, 4, 2), "????w");
}

TEST(FrameEdges, FollowTheInstructionsOfAnEpilogue) {
  EXPECT_EQ(edges({kPush, kSub32, kNop, kAdd32, kPop, kPoll, kJa, kRet}, 2, 6), "npwwpnnn");
  EXPECT_EQ(edges({kPush, kSub32, kNop, kAdd32, kPop, kShortPoll, kJa, kRet}, 2, 6), "npwwpnnn");
  EXPECT_EQ(edges({kPush, kSub32, kJa, kNop}, 2, 6), "npww");  // of a switch
}

TEST(FrameEdges, ThePollsSlowPathHasNoFrame) {
  const std::vector<std::uint8_t> lea = {0x4c, 0x8d, 0x15, 0, 0, 0, 0};
  const std::vector<std::uint8_t> store = {0x4d, 0x89, 0x97, 0, 0, 0, 0};
  const std::vector<std::uint8_t> jmp = {0xe9, 0, 0, 0, 0};
  EXPECT_EQ(edges({kPush, kSub32, kRet, lea, store, jmp}, 2, 6), "npnnnn");
  EXPECT_EQ(edges({kPush, kSub32, kRet, store, kNop, lea, kNop}, 2, 6), "npnwwww");  // of an allocation, of a table
}

TEST(FrameEdges, AnExceptionLeavesWithoutReturning) {
  const std::vector<std::uint8_t> jmp = {0xe9, 0, 0, 0, 0};
  EXPECT_EQ(edges({kPush, kSub32, kNop, kAdd32, kPop, jmp, kNop}, 2, 6), "npwwpnw");
  EXPECT_EQ(edges({kPush, kSub32, kNop, jmp, kNop}, 2, 6), "npwww");  // of a loop
}

// All that makes the frame, the barrier at method entry included, and what follows when its removal has begun.
TEST(FrameEdges, AreToldFromWhatIsDoneInTheFrame) {
  EXPECT_EQ(edges_and_marks({kBang, kPush, kSub32, kBarrier, kJne, kNop, kAdd32, kPop, kPoll, kJa, kRet}, 5, 6),
            "nnpwwwwpnnn/xxxxx..xxxx");
  EXPECT_EQ(edges_and_marks({kPush, kSub32, kNop, kAdd32, kPop, kRet, kNop}, 2, 6), "npwwpnw/xx..xx.");
}

TEST(FrameEdges, TwoPopsFollowTheSubtypeCheckOfC1) {
  const auto pops = [](std::vector<std::uint8_t> code) { return pops_arguments(code.data()); };
  EXPECT_TRUE(pops({0x5e, 0x5e, 0x90, 0x90}));         // pop rsi, twice
  EXPECT_TRUE(pops({0x41, 0x58, 0x41, 0x59}));         // pop r8, pop r9
  EXPECT_TRUE(pops({0x58, 0x41, 0x5f, 0x90}));         // pop rax, pop r15
  EXPECT_FALSE(pops({0x5e, 0x90, 0x5e, 0x90}));        // one alone
  EXPECT_FALSE(pops({0x48, 0x83, 0xc4, 0x20, 0x5d}));  // add rsp, 32
}

}  // namespace
}  // namespace sonde::agent::hotspot
