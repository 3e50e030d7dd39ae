// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "profile/test_profile.h"
#include "store/columns.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace sonde::store {
namespace {

namespace fs = std::filesystem;
using profile::drawn_profile;
using profile::Metric;
using profile::Profile;
using profile::text_of;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr const char* kDrawing = R"(thread main
  App.main([Ljava/lang/String;)V 1 20
    App.get()I 3 9 @12
    App.run()V 2 14 @12
      App.get()I 4 12345678901234 @30
thread worker
  Worker.run()V 1 100
)";

class Store : public testing::Test {
 protected:
  Store() {
    std::string pattern = (fs::temp_directory_path() / "sonde-store-XXXXXX").string();
    SONDE_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    file_ = folder_ / "a.sonde";
  }
  ~Store() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path live_folder(const arena::TestArena& arena) const {
    fs::path live = folder_ / "b.sonde.live";
    fs::create_directories(live);
    std::ofstream(live / kArenaFile, std::ios::binary) << as_text(arena.bytes());
    return live;
  }
  static std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  static std::string error_of(const fs::path& path) {
    const auto profile = open(path);
    return profile.ok() ? "no error" : profile.error().to_string();
  }
  void change(const std::string& sql) const {
    Database db = Database::open(file_, Database::Access::kCreate).value();
    const auto result = db.execute(sql);
    ASSERT_TRUE(result.ok()) << result.error().to_string();
  }

  fs::path folder_;
  fs::path file_;
};

TEST_F(Store, KeepsSamplesAndHowTheyWereTaken) {
  arena::TestArena arena("thread main\n  App.main()V 0 3\n    App.get()I 0 4 @12\n");
  arena.make_sampled({7000});
  ASSERT_TRUE(finish(live_folder(arena), file_).ok());
  const Profile profile = open(file_).value();
  EXPECT_THAT(profile.tree.values(Metric::kSamples), ElementsAre(0, 3, 4));
  EXPECT_THAT(profile.tree.values(Metric::kBytecodes), ElementsAre(0, 3000, 4000));
  EXPECT_EQ(profile.recording.mode, "bytecode");
  EXPECT_EQ(profile.recording.sampling.granularity, 1000u);
  EXPECT_EQ(profile.recording.sampling.jitter, 100u);
}

TEST_F(Store, KeepsCallsOfRootsAndExceptions) {
  Profile profile = drawn_profile(kDrawing);
  profile.recording.mode = "subgraph";
  profile.recording.subgraph = {.scheme = "lazy", .time = "wall", .inner_ps = 21'500, .methods = 7, .batches = 3};
  profile.tree.column(profile::Metric::kExceptions)[1] = 5;
  profile.tree.column(profile::Metric::kWallNs)[1] = 1'234'567;
  profile::RootCalls root{.method = profile.tree.method[1],
                          .calls = 9,
                          .exceptions = 5,
                          .timed = 8,
                          .time_ns = 800,
                          .least_ns = 90,
                          .most_ns = 110,
                          .all_bare = 50,
                          .bare = 40,
                          .bare_ns = 2'000,
                          .bare_error_ns = 77,
                          .cost_percent = 130,
                          .buckets = std::vector<std::uint64_t>(320),
                          .last = {{7, 90}}};
  root.buckets[60] = 8;
  profile.roots.push_back(root);
  ASSERT_TRUE(write(profile, file_).ok());
  const auto again = open(file_);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(again->recording.subgraph.scheme, "lazy");
  EXPECT_EQ(again->recording.subgraph.inner_ps, 21'500u);
  EXPECT_EQ(again->recording.subgraph.batches, 3u);
  EXPECT_EQ(again->tree.value(profile::Metric::kExceptions, 1), 5u);
  EXPECT_EQ(again->tree.value(profile::Metric::kWallNs, 1), 1'234'567u);
  ASSERT_EQ(again->roots.size(), 1u);
  EXPECT_EQ(again->roots[0].timed, 8u);
  EXPECT_EQ(again->roots[0].buckets, root.buckets);
  EXPECT_EQ(again->roots[0].last, root.last);
  EXPECT_EQ(again->roots[0].all_bare, 50u);
  EXPECT_EQ(again->roots[0].bare, 40u);
  EXPECT_EQ(again->roots[0].bare_ns, 2'000u);
  EXPECT_EQ(again->roots[0].bare_error_ns, 77u);
  EXPECT_EQ(again->roots[0].cost_percent, 130u);
}

// Moves columns back to where older formats had them.
std::string moved_to(const std::string& table, std::initializer_list<const char*> columns) {
  std::string sql;
  for (const std::string name : columns) {
    sql += "ALTER TABLE " + table + " ADD COLUMN " + name + " BLOB; UPDATE " + table + " SET " + name +
           " = (SELECT value FROM tree_column AS c WHERE c.name = '" + name + "' AND c.chunk = " + table + ".chunk);";
  }
  return sql;
}

TEST_F(Store, ReadsFilesOfFormat1) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  change(moved_to("call_tree", {"calls", "bytecodes"}) + "DROP TABLE tree_column; PRAGMA user_version = 1");
  const auto profile = open(file_);
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_EQ(text_of(*profile), kDrawing);
  EXPECT_FALSE(has_metric(*profile, Metric::kSamples));
}

TEST_F(Store, ReadsFilesOfFormat2) {
  Profile profile = drawn_profile(kDrawing);
  const std::vector<std::uint64_t> numbers = {0, 7, 6, 5, 4, 0, 3};
  for (const Metric metric : {Metric::kSamples, Metric::kCpuNs, Metric::kWallNs}) profile.tree.column(metric) = numbers;
  profile.tree.activations = numbers;
  ASSERT_TRUE(write(profile, file_).ok());
  change(moved_to("call_tree", {"calls", "bytecodes", "samples"}) +
         "CREATE TABLE time_tree(chunk INTEGER PRIMARY KEY); INSERT INTO time_tree VALUES(0);" +
         moved_to("time_tree", {"cpu_ns", "wall_ns", "activations"}) +
         "DROP TABLE tree_column; PRAGMA user_version = 2");
  const auto again = open(file_);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(text_of(*again), kDrawing);
  for (const Metric metric : {Metric::kSamples, Metric::kCpuNs, Metric::kWallNs}) {
    EXPECT_THAT(again->tree.values(metric), ElementsAreArray(numbers)) << profile::name_of(metric);
  }
  EXPECT_EQ(again->tree.activations, numbers);
}

TEST_F(Store, ColumnsOfANewerSondeAreLeftOut) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  change("INSERT INTO tree_column SELECT 'page_faults', chunk, value FROM tree_column WHERE name = 'calls'");
  EXPECT_EQ(text_of(open(file_).value()), kDrawing);
}

TEST_F(Store, AFileGivesBackTheProfile) {
  Profile profile = drawn_profile(kDrawing);
  profile.counters.push_back(profile::counter_value(1, 17));
  profile.counters.push_back(profile::counter_value(250, 3));
  profile.recording.damage_count = 2;
  profile.recording.damage_notes = {"one", "two"};
  ASSERT_TRUE(write(profile, file_).ok());
  const auto again = open(file_);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(text_of(*again), kDrawing);
  EXPECT_EQ(again->tree.end, profile.tree.end);
  EXPECT_EQ(again->recording.command, "App --fast");
  EXPECT_EQ(again->recording.start_ns, profile.recording.start_ns);
  EXPECT_EQ(again->recording.state, profile::State::kEnded);
  EXPECT_EQ(again->recording.damage_notes, profile.recording.damage_notes);
  ASSERT_EQ(again->counters.size(), 2u);
  EXPECT_EQ(again->counters[0].name, "MethodsTooLarge");
  EXPECT_EQ(again->counters[1].id, 250);
  EXPECT_EQ(again->threads[1].end_node, 7u);
}

TEST_F(Store, AFileIsPrivateAndAppearsWhole) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  struct stat status = {};
  ASSERT_EQ(::stat(file_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing is left beside it";
  const auto failed = write(drawn_profile(kDrawing), folder_ / "no" / "such" / "a.sonde");
  EXPECT_THAT(failed.error().to_string(), HasSubstr("a.sonde: cannot create a file beside it"));
}

TEST_F(Store, AnySqliteClientCanAskForTheTop) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  Database db = Database::open(file_, Database::Access::kReadOnly).value();
  Statement top = db.prepare("SELECT name, self, total FROM top WHERE metric = 'bytecodes' LIMIT 1").value();
  ASSERT_TRUE(top.next().value());
  EXPECT_EQ(top.text(0), "App.get");
  EXPECT_EQ(top.integer(1), 12345678901243u);
  EXPECT_EQ(db.integer("SELECT total FROM top WHERE metric = 'calls' AND name = 'App.main'").value(), 10u);
}

TEST_F(Store, ManyPartsMakeOneTree) {
  arena::DrawnThread thread{.names = {"main"}};
  for (std::uint32_t i = 0; i < 3 * kNodesPerChunk; ++i) {
    thread.calls.push_back({.depth = 1 + i % 50, .method = "A.a()V", .calls = i, .bytecodes = i * 3ULL, .site = "7"});
  }
  const arena::TestArena arena(std::vector{thread});
  const auto reader = arena::Reader::over(arena.bytes());
  const Profile profile = profile::ingest(*reader).value();
  ASSERT_TRUE(write(profile, file_).ok());
  const Profile again = open(file_).value();
  EXPECT_EQ(again.tree.depth, profile.tree.depth);
  for (const Metric metric : {Metric::kCalls, Metric::kBytecodes}) {
    EXPECT_THAT(again.tree.values(metric), ElementsAreArray(profile.tree.values(metric)));
  }
}

TEST_F(Store, LiveFoldersAreReadAndFinished) {
  arena::TestArena arena(kDrawing);
  arena.header().state.store(static_cast<std::uint32_t>(arena::State::kRunning));
  arena.header().end_ns = 0;
  const fs::path live = live_folder(arena);
  EXPECT_EQ(text_of(open(live).value()), kDrawing);
  EXPECT_EQ(text_of(open(live / kArenaFile).value()), kDrawing);
  const auto finished = finish(live, file_);
  ASSERT_TRUE(finished.ok()) << finished.error().to_string();
  EXPECT_EQ(finished->nodes, 7u);
  EXPECT_EQ(finished->state, profile::State::kRunning);
  EXPECT_EQ(finished->file_bytes, fs::file_size(file_));
  EXPECT_EQ(text_of(open(file_).value()), kDrawing);
  ASSERT_TRUE(remove_live(live).ok());
  EXPECT_FALSE(fs::exists(live));
}

TEST_F(Store, WrongPathsAreExplained) {
  EXPECT_THAT(error_of(file_), HasSubstr("a.sonde: does not exist"));
  fs::create_directory(folder_ / "a.sonde.live");
  EXPECT_THAT(error_of(file_), HasSubstr("but the live folder " + file_.string() + ".live does"));
  EXPECT_THAT(error_of(folder_), HasSubstr("is a folder without a file `arena`"));
  std::ofstream(file_) << "some text that is long enough to be looked at";
  EXPECT_THAT(error_of(file_), HasSubstr("a.sonde: is not a recording of Sonde"));
  std::ofstream(file_, std::ios::trunc).close();
  EXPECT_THAT(error_of(file_), HasSubstr("not a recording of Sonde"));
}

TEST_F(Store, OtherVersionsAndDatabasesAreRefused) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  change("PRAGMA user_version = 99");
  EXPECT_THAT(error_of(file_), HasSubstr("has format 99; this Sonde reads up to 5, so a newer one is needed"));
  EXPECT_EQ(open(file_).error().code, ErrorCode::kUnsupported);
  change("PRAGMA application_id = 1");
  EXPECT_THAT(error_of(file_), HasSubstr("is an SQLite database, but not a recording of Sonde"));
}

TEST_F(Store, RowsThatMakeNoSenseAreErrors) {
  const Profile profile = drawn_profile(kDrawing);
  const auto error_after = [&](const std::string& sql) {
    EXPECT_TRUE(write(profile, file_).ok());
    change(sql);
    return error_of(file_);
  };
  EXPECT_THAT(error_after("DELETE FROM method WHERE id = 1"), HasSubstr("row 1 of table `method` is missing"));
  EXPECT_THAT(error_after("UPDATE method SET class = 99 WHERE id = 1"), HasSubstr("method 1 makes no sense"));
  EXPECT_THAT(error_after("DELETE FROM method WHERE id > 2"), HasSubstr("call tree, part 0: method 3 does not exist"));
  EXPECT_THAT(error_after("DELETE FROM call_tree"), HasSubstr("the end of the call tree is missing"));
  EXPECT_THAT(error_after("UPDATE call_tree SET nodes = 8"), HasSubstr("ends in the middle of a number"));
  EXPECT_THAT(error_after("UPDATE call_tree SET nodes = 1000000"), HasSubstr("a part of the call tree is missing"));
  EXPECT_THAT(error_after("UPDATE tree_column SET value = x'00'"), HasSubstr("bytecodes, part 0: a column is damaged"));
  EXPECT_THAT(error_after("UPDATE tree_column SET chunk = 1"), HasSubstr("a part of bytecodes is missing"));
  EXPECT_THAT(error_after("DELETE FROM thread WHERE id = 1"), HasSubstr("another number of roots"));
  EXPECT_THAT(error_after("DELETE FROM meta"), HasSubstr("`meta` is not complete"));
  EXPECT_THAT(error_after("DROP TABLE counter"), HasSubstr("no such table: counter"));
}

TEST_F(Store, DamageAnywhereIsNoCrash) {
  ASSERT_TRUE(write(drawn_profile(kDrawing), file_).ok());
  const std::string whole = read(file_);
  const fs::path damaged = folder_ / "damaged.sonde";
  for (std::size_t size = 0; size < whole.size(); size += 1499) {
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    EXPECT_FALSE(open(damaged).ok()) << size << " of " << whole.size();
  }
  for (std::size_t i = 0; i < whole.size(); i += 61) {
    std::string copy = whole;
    copy[i] = static_cast<char>(copy[i] ^ 0xff);
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << copy;
    (void)open(damaged);  // names and unused bytes may differ without harm
  }
}

TEST(Columns, ChecksumsFindFlippedBits) {
  ColumnEncoder encoder;
  const std::vector<std::uint64_t> values = {0, 1, 127, 128, 300, ~std::uint64_t{0}, 5};
  const Bytes blob = encoder.encode(0, std::span<const std::uint64_t>(values), [](std::uint64_t v) { return v; });
  ColumnDecoder decoder;
  const auto back = decoder.decode(blob, values.size());
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::equal(back->begin(), back->end(), values.begin(), values.end()));
  EXPECT_FALSE(decoder.decode(blob, values.size() - 1).ok());
  EXPECT_FALSE(decoder.decode(blob, values.size() + 1).ok());
  for (std::size_t i = 0; i < blob.size(); ++i) {
    std::vector<std::uint8_t> flipped(blob.begin(), blob.end());
    flipped[i] ^= 0x10;
    const auto result = decoder.decode(flipped, values.size());
    EXPECT_TRUE(!result.ok() || std::equal(result->begin(), result->end(), values.begin())) << i;
  }
}

TEST(Columns, ZigzagKeepsSmallNumbersSmall) {
  for (const std::int64_t v : {0LL, -1LL, 1LL, -2LL, 1000LL, -1000LL}) EXPECT_EQ(unzigzag(zigzag(v)), v);
  EXPECT_EQ(zigzag(-1), 1u);
  EXPECT_EQ(zigzag(1), 2u);
}

}  // namespace
}  // namespace sonde::store
