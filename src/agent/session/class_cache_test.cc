// SPDX-License-Identifier: Apache-2.0
#include "agent/session/class_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agent/session/class_instrumenter.h"
#include "arena/reader.h"
#include "classfile/test_class.h"

namespace sonde::agent {
namespace {

namespace fs = std::filesystem;
using classfile::testing::assemble;
using classfile::testing::TestClass;

constexpr std::uint64_t kMaker = 7;

std::vector<std::uint8_t> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

class ClassCacheTest : public testing::Test {
 protected:
  ClassCacheTest() : folder_(fs::temp_directory_path() / ("class_cache_test-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~ClassCacheTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "classes").string(); }

  // A file with two classes, "one" and "two".
  void write_two() const {
    ClassCache cache(kMaker);
    cache.add(as_bytes("original 1"), {.name = "one", .bytes = as_bytes("instrumented 1"), .records = {}});
    cache.add(as_bytes("original 2"), {.name = "two", .bytes = as_bytes("instrumented 2"), .records = {}});
    ASSERT_TRUE(cache.has_news());
    ASSERT_TRUE(cache.write(path(), 100, 10));
  }

  [[nodiscard]] std::string read_file() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void write_file(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }

  // How many of the two classes are found, each as it was.
  [[nodiscard]] int found() const {
    ClassCache cache(kMaker);
    cache.open(path());
    int found = 0;
    for (const std::string number : {"1", "2"}) {
      const auto cached = cache.take(as_bytes("original " + number));
      if (!cached) continue;
      EXPECT_EQ(as_text(cached->bytes), "instrumented " + number);
      EXPECT_EQ(cached->name, number == "1" ? "one" : "two");
      ++found;
    }
    return found;
  }

  fs::path folder_;
};

TEST_F(ClassCacheTest, GivesBackWhatWasWrittenOnce) {
  write_two();
  ClassCache cache(kMaker);
  cache.open(path());
  EXPECT_EQ(cache.index().next_method(), 100U);
  EXPECT_EQ(cache.index().next_class(), 10U);
  EXPECT_FALSE(cache.take(as_bytes("original 3")));
  const auto one = cache.take(as_bytes("original 1"));
  ASSERT_TRUE(one);
  EXPECT_EQ(as_text(one->bytes), "instrumented 1");
  EXPECT_FALSE(cache.take(as_bytes("original 1")));  // the second class with these bytes needs numbers of its own
  EXPECT_FALSE(cache.has_news());
}

TEST_F(ClassCacheTest, GrowsByWhatIsNew) {
  write_two();
  {
    ClassCache cache(kMaker);
    cache.open(path());
    cache.add(as_bytes("original 2"), {.name = "two", .bytes = as_bytes("something else"), .records = {}});
    EXPECT_FALSE(cache.has_news());
    cache.add(as_bytes("original 3"), {.name = "three", .bytes = as_bytes(std::string(400, 'x')), .records = {}});
    ASSERT_TRUE(cache.has_news());
    ASSERT_TRUE(cache.write(path(), 200, 20));
  }
  EXPECT_EQ(found(), 2);
  ClassCache cache(kMaker);
  cache.open(path());
  EXPECT_EQ(cache.index().next_method(), 200U);
  EXPECT_TRUE(cache.take(as_bytes("original 3")));
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ClassCacheTest, IsEmptyWithoutAFileOrWithThatOfAnotherMaker) {
  EXPECT_EQ(found(), 0);
  write_two();
  EXPECT_EQ(found(), 2);
  ClassCache other(kMaker + 1);
  other.open(path());
  EXPECT_FALSE(other.take(as_bytes("original 1")));
}

// Whatever byte is changed, classes that come back are the right ones.
TEST_F(ClassCacheTest, BelievesNoDamagedFile) {
  write_two();
  const std::string good = read_file();
  int lost = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_file(bad);
    lost += 2 - found();
  }
  EXPECT_GT(lost, static_cast<int>(good.size()) / 2);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(good.substr(0, size));
    EXPECT_EQ(found(), 0) << size;
  }
  write_file(good + "x");
  EXPECT_EQ(found(), 0);
}

TEST_F(ClassCacheTest, BelievesNoFileThatOthersCouldWrite) {
  write_two();
  chmod(path().c_str(), 0620);
  EXPECT_EQ(found(), 0);
  chmod(path().c_str(), 0600);
  EXPECT_EQ(found(), 2);
  fs::rename(path(), folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", path());
  EXPECT_EQ(found(), 0);
}

// --- what the instrumenter does with it ---

struct Recorded {
  std::vector<std::vector<std::uint8_t>> classes;
  std::vector<std::string> methods;  // "class.name id flags sites"
};

class CachedInstrumenterTest : public ClassCacheTest {
 protected:
  CachedInstrumenterTest() {
    std::vector<classfile::MemberRef> known = {{"java/lang/Object", "hashCode", "()I"},
                                               {"java/lang/System", "nanoTime", "()J"}};
    for (const auto& method : known) known_.add(method, instrument::KnownKind::kNative);
    known_.sort();
    for (const std::string name : {"a/One", "a/Two", "a/Three"}) {
      TestClass cls;
      cls.name = name;
      assemble(cls, "invokestatic java/lang/System.nanoTime()J\n pop2\n invokestatic a/B.f()V\n return");
      originals_.push_back(cls.bytes());
    }
  }

  // What a recording makes of the classes, and what it is told of their methods.
  Recorded record(const std::vector<int>& which, const Options& options = {}) {
    const std::string arena_path = (folder_ / "arena").string();
    Recorded result;
    {
      arena::Writer arena;
      EXPECT_TRUE(arena.create(arena_path.c_str(), {.capacity = 4 << 20, .address_bias = 0, .flags = 0}).ok());
      MethodTable methods;
      EXPECT_TRUE(methods.map().ok());
      ClassInstrumenter instrumenter(arena, methods, options, known_, nullptr);
      instrumenter.use_cache(path());
      for (const int i : which) {
        instrumenter.rewrite(originals_[static_cast<std::size_t>(i)], true,
                             [&](Bytes bytes) { result.classes.push_back(copy_of(bytes)); });
      }
      instrumenter.save_cache(path());
      for (std::uint32_t id = 0; id < 100; ++id) leaves_[id] = methods.has_no_node(id);
      methods.unmap();
    }
    const auto reader = arena::Reader::open(arena_path);
    EXPECT_TRUE(reader.ok());
    for (const auto& method : reader->methods()) {
      result.methods.push_back(std::string(method.name) + " " + std::to_string(method.id) + " " +
                               std::to_string(method.class_id) + " " + std::to_string(method.flags));
    }
    fs::remove(arena_path);
    return result;
  }

  instrument::KnownMethods known_;
  std::vector<std::vector<std::uint8_t>> originals_;
  bool leaves_[100] = {};
};

TEST_F(CachedInstrumenterTest, MakesTheSameOfClassesWithAndWithoutTheFile) {
  const Recorded cold = record({0, 1, 2});
  ASSERT_EQ(cold.classes.size(), 3U);
  ASSERT_TRUE(fs::exists(path()));
  bool cold_leaves[100];
  std::memcpy(cold_leaves, leaves_, sizeof leaves_);
  const Recorded warm = record({0, 1, 2});
  EXPECT_EQ(warm.classes, cold.classes);
  EXPECT_EQ(warm.methods, cold.methods);
  EXPECT_EQ(std::memcmp(cold_leaves, leaves_, sizeof leaves_), 0);
}

TEST_F(CachedInstrumenterTest, TellsTheArenaOfLoadedClassesOnly) {
  (void)record({0, 1});
  const Recorded second = record({1, 2, 2});
  ASSERT_EQ(second.classes.size(), 3U);
  // nanoTime once, f of Two, f of Three twice, since it was loaded twice.
  EXPECT_EQ(second.methods.size(), 4U);
  EXPECT_NE(second.classes[1], second.classes[2]);
  const Recorded third = record({2});
  EXPECT_EQ(third.classes[0], second.classes[1]);
}

TEST_F(CachedInstrumenterTest, IsNotUsedWhereClassesBecomeSomethingElse) {
  Options options;
  options.precise = false;
  (void)record({0}, options);
  EXPECT_FALSE(fs::exists(path()));
  (void)record({0});
  EXPECT_TRUE(fs::exists(path()));
  options.precise = true;
  options.exclude = {"a.One"};
  EXPECT_TRUE(record({0}, options).classes.empty());
}

}  // namespace
}  // namespace sonde::agent
