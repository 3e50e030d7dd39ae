// SPDX-License-Identifier: Apache-2.0
#include "arena/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "arena/exercise.h"
#include "arena/test_arena.h"
#include "arena/writer.h"

namespace sonde::arena {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDrawing = R"(
thread main + Thread-3
  App.main([Ljava/lang/String;)V 1 20
    App.get()I 3 9 @12 leaf
    App.run()V 2 14 @12b path=7
      App.get()I 4 12 @30 leaf
      App.other()V 1 3 @30
    java/lang/Thread.sleep0(J)V 1 0 @14 native
      App.callback()V 1 5
        App.get()I 1 3 @40 leaf
    App.<clinit>()V 1 8
  App.exit()V 1 2
  overflow 10 99
thread worker
  Worker.run()V 1 100
)";

// "depth method calls bytecodes @line", one line per context.
std::vector<std::string> contexts(const Reader& reader, std::size_t tree, Damage& damage) {
  std::vector<std::string> lines;
  (void)reader.walk(
      reader.trees()[tree],
      [&](const Context& c) {
        const std::string name = c.method != nullptr ? std::string(c.method->name) : "?";
        lines.push_back(std::to_string(c.depth) + " " + name + " " + std::to_string(c.calls) + " " +
                        std::to_string(c.bytecodes) + " @" + std::to_string(c.site.line));
      },
      damage);
  return lines;
}

std::vector<std::string> contexts(TestArena& arena, std::uint64_t* damage_count = nullptr) {
  const auto reader = Reader::over(arena.bytes());
  EXPECT_TRUE(reader.ok());
  Damage damage = reader->damage();
  std::vector<std::string> lines = contexts(*reader, 0, damage);
  if (damage_count != nullptr) {
    *damage_count = damage.count();
  } else {
    EXPECT_EQ(damage.count(), 0u) << testing::PrintToString(damage.notes());
  }
  return lines;
}

TEST(ArenaReader, ReadsTablesAndTrees) {
  const TestArena arena(kDrawing);
  const auto reader = Reader::over(arena.bytes());
  ASSERT_TRUE(reader.ok()) << reader.error().to_string();
  EXPECT_EQ(reader->damage().count(), 0u);
  EXPECT_EQ(reader->summary().command, "App --fast");
  EXPECT_EQ(reader->summary().state, State::kEnded);
  EXPECT_EQ(reader->classes().size(), 2u);
  EXPECT_EQ(reader->methods().size(), 9u);
  ASSERT_EQ(reader->threads().size(), 2u);
  EXPECT_EQ(reader->threads()[1].name, "worker");
  ASSERT_EQ(reader->trees().size(), 2u);
  EXPECT_EQ(reader->state_of(reader->trees()[0]).threads, 2u);
  Damage damage;
  EXPECT_THAT(
      contexts(*reader, 0, damage),
      ElementsAre("1 main 1 20 @0", "2 <clinit> 1 8 @0", "2 get 3 9 @12", "2 run 2 14 @12", "3 get 4 12 @30",
                  "3 other 1 3 @30", "2 sleep0 1 0 @14", "3 callback 1 5 @0", "4 get 1 3 @40", "1 exit 1 2 @0"));
  EXPECT_THAT(contexts(*reader, 1, damage), ElementsAre("1 run 1 100 @0"));
  EXPECT_EQ(damage.count(), 0u);
  EXPECT_EQ(reader->overflow_of(1).calls, 10u);
  EXPECT_EQ(reader->overflow_of(1).bytecodes, 99u);
  EXPECT_EQ(reader->overflow_of(2).calls, 0u);
}

TEST(ArenaReader, TargetsOfAVirtualCallAreSiblingsEvenIfOneIsNative) {
  TestArena arena(R"(
thread main
  A.a()V 1 1
    B.hash()I 1 0 @5 intrinsic
    C.hash()I 2 2 @5
    D.hash()I 3 3 @5 leaf
    E.back()V 4 4 @5
)");
  EXPECT_THAT(contexts(arena),
              ElementsAre("1 a 1 1 @0", "2 hash 2 2 @5", "2 hash 3 3 @5", "2 hash 1 0 @5", "3 back 4 4 @0"));
}

TEST(ArenaReader, InitialisersAtTheSiteOfAnIntrinsicAreRunByTheCaller) {
  TestArena arena(R"(
thread main
  A.a()V 1 1
    B.valueOf()I 1 0 @5 intrinsic
      C.<clinit>()V 1 7
      D.back()V 4 4
    E.forName0()V 1 0 @6 native
      F.<clinit>()V 1 8
)");
  EXPECT_THAT(contexts(arena), ElementsAre("1 a 1 1 @0", "2 <clinit> 1 7 @0", "2 valueOf 1 0 @5", "3 back 4 4 @0",
                                           "2 forName0 1 0 @6", "3 <clinit> 1 8 @0"));
}

TEST(ArenaReader, OverflowIsReadAtAnyMomentAndNoDamage) {
  TestArena arena("thread main\n  A.a()V 1 1\n  overflow 12 120\n");
  arena.at<TreeHeader>(arena.tree(0)).overflow = 0x123456789000;  // where the agent mapped the page a second time
  const auto reader = Reader::over(arena.bytes());
  EXPECT_EQ(reader->overflow_of(1).calls, 12u);
  arena.at<OverflowPage>(arena.overflows()[0]).node.calls += 1;
  EXPECT_EQ(reader->overflow_of(1).calls, 13u);
  EXPECT_EQ(reader->overflow_of(1).bytecodes, 120u);
  EXPECT_THAT(contexts(arena), ElementsAre("1 a 1 1 @0"));
}

constexpr const char* kGroup = R"(
thread virtual + virtual
  A.a()V 10 100
    A.b()V 5 50 @2 leaf
member
  A.a()V 1 10
    A.b()V 3 30 @2 leaf
)";

TEST(ArenaReader, AMoveThatWasUnderWayCountsOnce) {
  TestArena arena(kGroup);
  const auto reader = Reader::over(arena.bytes());
  ASSERT_EQ(reader->trees()[1].group, reader->trees()[0].id);
  const auto all = [&] {
    Damage damage;
    std::vector<std::string> lines = contexts(*reader, 0, damage);
    const std::vector<std::string> of_member = contexts(*reader, 1, damage);
    lines.insert(lines.end(), of_member.begin(), of_member.end());
    EXPECT_EQ(damage.count(), 0u);
    return lines;
  };
  // The counts of a() are moved, one store after the other; the JVM may be killed between any two of them.
  auto& move = arena.at<TreeHeader>(arena.tree(0)).move;
  auto& to = arena.at<Node>(arena.nodes()[0]);
  auto& from = arena.at<Node>(arena.nodes()[1]);
  arena.at<TreeHeader>(arena.tree(1)).lease = 4 + kTreeEnding;
  const auto before = ElementsAre("1 a 10 100 @0", "2 b 5 50 @2", "1 a 1 10 @0", "2 b 3 30 @2");
  const auto after = ElementsAre("1 a 11 110 @0", "2 b 5 50 @2", "1 a 0 0 @0", "2 b 3 30 @2");
  move.source = TestArena::kBase + arena.nodes()[1];
  move.target = TestArena::kBase + arena.nodes()[0];
  move.calls = 11;
  EXPECT_THAT(all(), before);
  move.bytecodes = 110;
  EXPECT_THAT(all(), before);
  move.sequence = 1;
  EXPECT_THAT(all(), after);
  to.calls = 11;
  EXPECT_THAT(all(), after);
  to.bytecodes = 110;
  from.calls = 0;
  EXPECT_THAT(all(), after);
  from.bytecodes = 0;
  EXPECT_THAT(all(), after);
  move.sequence = 2;
  EXPECT_THAT(all(), after);
}

TEST(ArenaReader, AMemberThatIsGivenAwayWhileItIsReadIsGone) {
  TestArena arena(kGroup);
  const auto reader = Reader::over(arena.bytes());
  const TreeEntry& member = reader->trees()[1];
  Damage damage;
  const auto walk = [&](const std::function<void(const Context&)>& visit) {
    return reader->walk(member, visit, damage).walked;
  };
  const auto nothing = [](const Context&) {};
  EXPECT_EQ(walk(nothing), Walked::kWhole);
  auto& lease = arena.at<TreeHeader>(arena.tree(1)).lease;
  lease = 4 + kTreeEnding;
  EXPECT_EQ(walk(nothing), Walked::kEnding);
  const auto meanwhile = [&](const Context&) {
    lease = 8 + kTreeInUse;
    arena.at<CallSite>(arena.nodes()[1] + sizeof(Node) + sizeof(CallSite)).method_id = 77;
  };
  EXPECT_EQ(walk(meanwhile), Walked::kGone);
  EXPECT_EQ(damage.count(), 0u) << "what was found then is no damage";
  lease = 8 + kTreeFree;
  EXPECT_EQ(walk([](const Context&) { ADD_FAILURE(); }), Walked::kWhole);
}

TEST(ArenaReader, ACallSiteWhoseRecursionWasFoldedLeadsNowhereNew) {
  TestArena arena("thread main\n  A.a()V 9 1\n    A.b()V 2 20 @3\n    A.c()V 5 50 @4\n");
  CallSite& alias = arena.at<CallSite>(arena.nodes()[0] + sizeof(Node) + sizeof(CallSite));
  alias.child = TestArena::kBase + arena.nodes()[0];
  alias.bytecodes = kFolded;
  EXPECT_THAT(contexts(arena), ElementsAre("1 a 9 1 @0", "2 c 5 50 @4"));
  const auto reader = Reader::over(arena.bytes());
  Damage damage;
  EXPECT_EQ(reader
                ->walk(
                    reader->trees()[0], [](const Context&) {}, damage)
                .folded_sites,
            1u);
}

TEST(ArenaReader, WhatIsDeeperThanTheLimitHangsBelowAMark) {
  TestArena arena(R"(
thread main
  A.a()V 1 1
    A.b()V 2 2 @3
      A.c()V 3 3
        A.leaf()V 4 4 @5 leaf
      A.other()V 5 5 @6 leaf
)");
  arena.at<TreeHeader>(arena.tree(0)).depth_limit = 2;
  for (std::size_t i = 0; i < 3; ++i) arena.at<Node>(arena.nodes()[i]).depth = i + 1;
  EXPECT_THAT(contexts(arena),
              ElementsAre("1 a 1 1 @0", "2 b 2 2 @3", "3 ? 0 0 @0", "4 c 3 3 @0", "4 leaf 4 4 @0", "4 other 5 5 @0"));
  const auto reader = Reader::over(arena.bytes());
  Damage damage;
  EXPECT_EQ(reader
                ->walk(
                    reader->trees()[0], [](const Context&) {}, damage)
                .cut_contexts,
            3u);
}

TEST(ArenaReader, ANodeThatIsJustBeingPublishedIsPassedOver) {
  TestArena arena("thread main\n  A.a()V 1 1\n    A.b()V 0 0\n");
  arena.at<Node>(arena.nodes()[1]).parent_site = 0;
  EXPECT_THAT(contexts(arena), ElementsAre("1 a 1 1 @0"));
}

TEST(ArenaReader, MethodsWithoutARecordKeepTheirCounts) {
  TestArena arena("thread main\n  A.a()V 1 1\n    A.b()V 2 20 @3\n    A.c()V 5 50 @4 leaf\n");
  // Rename the methods where they are used; nobody knows the new ids.
  arena.at<Node>(arena.nodes()[1]).method_id = 98;
  const std::uint64_t sites = arena.nodes()[0] + sizeof(Node);
  arena.at<CallSite>(sites + sizeof(CallSite)).method_id = 98;
  arena.at<CallSite>(sites + 2 * sizeof(CallSite)).method_id = 99;
  EXPECT_THAT(contexts(arena), ElementsAre("1 a 1 1 @0", "2 ? 2 20 @3", "2 ? 5 50 @4"));
}

TEST(ArenaReader, DepthIsLimitedByMemoryOnly) {
  DrawnThread thread{.names = {"main"}};
  constexpr std::uint32_t kDepth = 1'000'000;
  for (std::uint32_t depth = 1; depth <= kDepth; ++depth) {
    thread.calls.push_back({.depth = depth, .method = "A.a()V", .calls = 1, .bytecodes = 2, .site = "7"});
  }
  const TestArena arena(std::vector{thread});
  const Exercised result = exercise(arena.bytes());
  EXPECT_EQ(result.contexts, kDepth);
  EXPECT_EQ(result.damage, 0u);
}

TEST(ArenaReader, ATreeMayGrowWhileItIsRead) {
  DrawnThread thread{.names = {"main"}};
  constexpr std::uint32_t kDepth = 100'000;
  for (std::uint32_t depth = 1; depth <= kDepth; ++depth) {
    thread.calls.push_back({.depth = depth, .method = "A.a()V", .calls = 1, .bytecodes = 2, .site = "7"});
  }
  TestArena arena(std::vector{thread});
  arena.header().state.store(static_cast<std::uint32_t>(State::kRunning));
  arena.header().next.store(arena.nodes()[10]);
  const auto reader = Reader::over(arena.bytes());
  ASSERT_TRUE(reader.ok());
  Damage damage;
  std::uint32_t contexts = 0;
  reader->walk(
      reader->trees()[0],
      [&](const Context&) {
        ++contexts;
        arena.header().next.store(arena.size());
      },
      damage);
  EXPECT_EQ(contexts, kDepth);
  EXPECT_EQ(damage.count(), 0u) << testing::PrintToString(damage.notes());
}

TEST(ArenaReader, RefusesWhatIsNoArena) {
  const auto error = [](Bytes bytes) { return Reader::over(bytes).error().to_string(); };
  TestArena arena(kDrawing);
  EXPECT_THAT(error(arena.bytes().first(100)), HasSubstr("shorter than the header"));
  arena.header().version = 8;
  EXPECT_THAT(error(arena.bytes()), HasSubstr("has version 8; this Sonde reads version 7"));
  arena.header().magic[0] = 'X';
  EXPECT_THAT(error(arena.bytes()), HasSubstr("does not start with SONDEARN"));
  std::memset(arena.header().magic, 0, sizeof kMagic);
  EXPECT_THAT(error(arena.bytes()), HasSubstr("stopped before it began to record"));
  EXPECT_THAT(Reader::open("/no/such/arena").error().to_string(), HasSubstr("/no/such/arena: cannot open"));
}

TEST(ArenaReader, DamageCostsABranchNotTheTree) {
  const char* drawing = "thread main\n  A.a()V 1 1\n    A.b()V 1 1 @2\n      A.c()V 1 1\n    A.d()V 1 1 @3\n";
  std::uint64_t damage = 0;
  TestArena wrong_child(drawing);
  wrong_child.at<CallSite>(wrong_child.nodes()[0] + sizeof(Node) + sizeof(CallSite)).child += 8;
  EXPECT_THAT(contexts(wrong_child, &damage), ElementsAre("1 a 1 1 @0", "2 d 1 1 @3"));
  EXPECT_EQ(damage, 1u);

  TestArena cycle(drawing);  // c calls a
  auto& site = cycle.at<CallSite>(cycle.nodes()[2] + sizeof(Node));
  site.method_id = cycle.at<Node>(cycle.nodes()[0]).method_id;
  site.child = TestArena::kBase + cycle.nodes()[0];
  EXPECT_THAT(contexts(cycle, &damage), ElementsAre("1 a 1 1 @0", "2 b 1 1 @2", "3 c 1 1 @0", "2 d 1 1 @3"));
  EXPECT_EQ(damage, 1u);

  TestArena many_sites(drawing);
  many_sites.at<Node>(many_sites.nodes()[1]).site_count = 0xffffffff;
  EXPECT_THAT(contexts(many_sites, &damage), ElementsAre("1 a 1 1 @0", "2 b 1 1 @2", "2 d 1 1 @3"));
  EXPECT_EQ(damage, 1u);
}

TEST(ArenaReader, AListThatRunsInACircleEnds) {
  TestArena arena("thread main\n  A.a()V 1 1\n    A.b()V 1 1 @2\n    A.c()V 1 1 @2\n    A.d()V 1 1 @2\n");
  arena.at<ExtraCallSite>(arena.extras()[0]).next = TestArena::kBase + arena.extras()[1];
  std::uint64_t damage = 0;
  EXPECT_FALSE(contexts(arena, &damage).empty());
  EXPECT_GE(damage, 1u);
}

TEST(ArenaReader, TruncationAnywhereIsNoCrash) {
  const TestArena arena(kDrawing);
  const Exercised whole = exercise(arena.bytes());
  for (std::size_t size = 0; size < arena.size(); size += size < kHeaderSize ? 64 : 1) {
    const Exercised cut = exercise(arena.bytes().first(size));
    EXPECT_EQ(cut.is_open, size >= kHeaderSize);
    EXPECT_LE(cut.contexts, whole.contexts);
    EXPECT_EQ(cut.damage > 0, cut.is_open) << size;
  }
}

TEST(ArenaReader, FlippedBytesAreNoCrash) {
  const TestArena arena(kDrawing);
  std::vector<std::uint8_t> bytes(arena.bytes().begin(), arena.bytes().end());
  for (std::size_t i = 0; i < bytes.size(); i = i == 2047 ? kHeaderSize : i + 1) {
    for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
      bytes[i] ^= flip;
      (void)exercise(bytes);
      bytes[i] ^= flip;
    }
  }
  std::mt19937 random(1);  // the same every time
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint8_t> damaged = bytes;
    for (int i = 0; i < 20; ++i) damaged[64 + random() % (damaged.size() - 64)] = static_cast<std::uint8_t>(random());
    (void)exercise(damaged);
  }
}

// A record as the agent would append it: a struct, texts behind it, padding.
template <typename T>
std::vector<std::uint8_t> record(T fixed, RecordKind kind, std::string_view texts) {
  const std::size_t size = (sizeof(T) + texts.size() + 7) / 8 * 8;
  fixed.header = {.kind = kind, .reserved = 0, .size = static_cast<std::uint32_t>(size)};
  std::vector<std::uint8_t> bytes(size);
  std::memcpy(bytes.data(), &fixed, sizeof(T));
  std::memcpy(bytes.data() + sizeof(T), texts.data(), texts.size());
  return bytes;
}

TEST(ArenaReader, SeesWhatAWriterWritesAtOnce) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sonde-arena-" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  Writer writer;
  const auto created = writer.create(path.c_str(), {.capacity = 64 << 20, .address_bias = 4096, .flags = kPrecise});
  ASSERT_TRUE(created.ok()) << created.error().to_string();
  EXPECT_EQ(Reader::open(path)->methods().size(), 0u);

  const ClassRecord cls = {
      .header = {}, .class_id = 1, .flags = 0, .name_length = 3, .source_length = 8, .reserved = {}};
  ASSERT_TRUE(writer.append(record(cls, RecordKind::kClass, "p/AA.java.x")));
  MethodRecord method = {};
  method.method_id = 1;
  method.class_id = 1;
  method.name_length = 3;
  method.descriptor_length = 3;
  ASSERT_TRUE(writer.append(record(method, RecordKind::kMethod, "run()V")));
  ChunkHeader* chunk = writer.new_chunk(ChunkKind::kTree, 1, 4096);
  ASSERT_NE(chunk, nullptr);
  auto* tree = reinterpret_cast<TreeHeader*>(chunk + 1);
  auto* root = reinterpret_cast<Node*>(tree + 1);
  auto* site = reinterpret_cast<CallSite*>(root + 1);
  auto* node = reinterpret_cast<Node*>(site + 1);
  root->site_count = 1;
  tree->root = writer.address(root);
  const TreeRecord tree_record = {
      .header = {}, .tree_id = 1, .flags = 0, .address = writer.address(tree), .group = 0, .reserved = 0};
  ASSERT_TRUE(writer.append(record(tree_record, RecordKind::kTree, "")));
  writer.count(Counter::kRecordsDropped, 3);

  const auto reader = Reader::open(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(reader.ok()) << reader.error().to_string();
  ASSERT_EQ(reader->classes().size(), 1u);
  EXPECT_EQ(reader->classes()[0].source_file, "A.java.x");
  ASSERT_EQ(reader->counters().size(), 1u);
  EXPECT_EQ(reader->counters()[0].value, 3u);
  Damage damage = reader->damage();
  EXPECT_TRUE(contexts(*reader, 0, damage).empty());
  node->method_id = 1;
  node->parent_site = writer.address(site);
  node->calls = 42;
  site->child = writer.address(node);
  site->method_id = 1;
  EXPECT_THAT(contexts(*reader, 0, damage), ElementsAre("1 run 42 0 @0")) << "trees are read when they are walked";
  EXPECT_EQ(damage.count(), 0u) << testing::PrintToString(damage.notes());

  // The JVM is still starting; the next node gets a chunk that did not exist when the arena was opened.
  auto* later = reinterpret_cast<Node*>(writer.new_chunk(ChunkKind::kTree, 1, 4096) + 1);
  later->method_id = 1;
  later->parent_site = writer.address(site);
  later->calls = 43;
  site->child = writer.address(later);
  EXPECT_THAT(contexts(*reader, 0, damage), ElementsAre("1 run 43 0 @0"));
  EXPECT_EQ(damage.count(), 0u) << testing::PrintToString(damage.notes());
}

// What the fuzzer found once, and the seeds it starts from. Tests run in the root of the source tree.
TEST(FuzzInputs, ReplayWithoutACrash) {
  std::size_t count = 0;
  for (const char* folder : {"test/fuzz/corpus/reader_fuzz", "test/fuzz/regressions/reader_fuzz"}) {
    if (!std::filesystem::is_directory(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const MappedFile file = MappedFile::open(entry.path()).value();
      (void)exercise(file.bytes());
      ++count;
    }
  }
  EXPECT_GE(count, 3u);
}

}  // namespace
}  // namespace sonde::arena
