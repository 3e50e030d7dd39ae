// SPDX-License-Identifier: Apache-2.0
#include "archive/class_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "archive/exercise.h"
#include "archive/test_archives.h"
#include "base/mapped_file.h"

namespace sonde::archive {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const std::string kClass = "\xca\xfe\xba\xbe class";

// A folder that exists for one test. Names in results are shown relative to it.
class ClassSource : public testing::Test {
 protected:
  ClassSource() {
    std::string pattern = (fs::temp_directory_path() / "sonde-class-source-XXXXXX").string();
    SONDE_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~ClassSource() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path write(const std::string& name, Bytes content) {
    fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << as_text(content);
    return path;
  }
  fs::path write(const std::string& name, std::string_view content) { return write(name, as_bytes(content)); }

  std::string shown(const std::string& name) const {
    const std::string prefix = folder_.string() + "/";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  }

  using ForEach = decltype(for_each_class);

  // One line per callback: "name", or "name: <error code>"; last the error of the whole, if any.
  Lines visited(ForEach* for_each, const fs::path& path, std::size_t stop_after = 1000) {
    Lines lines;
    const Result<void> result = for_each(
        path,
        [&](const Entry& entry) {
          lines.push_back(shown(entry.name));
          return lines.size() < stop_after;
        },
        [&](const std::string& name, const Error& error) {
          lines.push_back(shown(name) + ": <" + std::string(name_of(error.code)) + ">");
        });
    if (!result.ok()) lines.push_back("<" + std::string(name_of(result.error().code)) + ">");
    return lines;
  }
  Lines classes(const fs::path& path) { return visited(for_each_class, path); }
  Lines entries(const fs::path& path) { return visited(for_each_entry, path); }

  fs::path folder_;
};

TEST_F(ClassSource, ASingleClassFile) {
  EXPECT_EQ(classes(write("A.class", kClass)), Lines{"A.class"});
  EXPECT_EQ(classes(write("renamed.bin", kClass)), Lines{"renamed.bin"}) << "content decides";
  EXPECT_EQ(classes(write("Damaged.class", "")), Lines{"Damaged.class"}) << "left to the class-file parser";
}

TEST_F(ClassSource, AFolderIsSortedAndRecursive) {
  write("b/B.class", kClass);
  write("b/a/A.class", kClass);
  write("b/readme.txt", "text");
  write("a.class", kClass);
  write("C.CLASS", kClass);
  write("lib.jar", make_zip({{.name = "In.class", .content = kClass}}));
  EXPECT_EQ(classes(folder_), (Lines{"a.class", "b/B.class", "b/a/A.class"}));
  EXPECT_EQ(entries(folder_), (Lines{"C.CLASS", "a.class", "b/B.class", "b/a/A.class", "b/readme.txt", "lib.jar"}));
}

TEST_F(ClassSource, LinksToFoldersAreNotFollowed) {
  write("real/A.class", kClass);
  fs::create_directory_symlink(folder_, folder_ / "real/loop");
  fs::create_symlink(folder_ / "real/A.class", folder_ / "Link.class");
  EXPECT_EQ(classes(folder_), (Lines{"Link.class", "real/A.class"}));
}

TEST_F(ClassSource, UnreadableFilesInAFolderAreReportedAndPassedOver) {
  write("Z.class", kClass);
  fs::create_symlink("nowhere", folder_ / "Broken.class");
  ASSERT_EQ(::mkfifo((folder_ / "Pipe.class").c_str(), 0600), 0);
  EXPECT_EQ(classes(folder_), (Lines{"Broken.class: <not-found>", "Pipe.class: <invalid-argument>", "Z.class"}));
}

TEST_F(ClassSource, AJarGivesItsClassesInItsOwnOrder) {
  const fs::path jar = write("x.jar", make_zip({{.name = "META-INF/MANIFEST.MF", .content = "m"},
                                                {.name = "b/", .content = ""},
                                                {.name = "b/B.class", .content = kClass, .method = 8},
                                                {.name = "bad.class", .content = kClass, .claimed_crc = 1},
                                                {.name = "A.class", .content = kClass}}));
  EXPECT_EQ(classes(jar), (Lines{"x.jar!/b/B.class", "x.jar!/bad.class: <malformed>", "x.jar!/A.class"}));
  EXPECT_EQ(entries(jar).size(), 5u);
}

TEST_F(ClassSource, EntriesSayWhatRewritingAJarNeeds) {
  const fs::path jar = write("x.jar", make_zip({{.name = "d/", .content = ""},
                                                {.name = "d/s", .content = "stored"},
                                                {.name = "d/z", .content = "zipped", .method = 8}}));
  Lines lines;
  const auto result = for_each_entry(
      jar,
      [&](const Entry& entry) {
        lines.push_back(std::string(entry.path) + (entry.is_directory ? " directory" : "") +
                        (entry.is_stored ? " stored " : " packed ") + std::string(as_text(entry.bytes)));
        return true;
      },
      [](const std::string&, const Error&) {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(lines, (Lines{"d/ directory stored ", "d/s stored stored", "d/z packed zipped"}));
}

TEST_F(ClassSource, PathsInsideAFolderAreRelativeToIt) {
  write("top/p/A.class", kClass);
  for (const std::string root : {"top", "top/"}) {
    const auto result = for_each_class(
        folder_ / root,
        [](const ClassEntry& entry) {
          EXPECT_EQ(entry.path, "p/A.class");
          EXPECT_EQ(as_text(entry.bytes), kClass);
          return true;
        },
        [](const std::string& name, const Error&) { ADD_FAILURE() << name; });
    EXPECT_TRUE(result.ok());
  }
}

TEST_F(ClassSource, AJmodIsAZipWithAPrefix) {
  const Buffer jmod = make_zip({{.name = "classes/A.class", .content = kClass}}, {.prefix = std::string("JM\1\0", 4)});
  EXPECT_EQ(classes(write("x.jmod", jmod)), Lines{"x.jmod!/classes/A.class"});
}

TEST_F(ClassSource, AJImageIsRecognisedByItsContent) {
  const fs::path image = write(
      "any-name", make_jimage({{.module = "m", .parent = "p", .base = "A", .extension = "class", .content = kClass},
                               {.module = "m", .parent = "p", .base = "r", .extension = "txt", .content = "r"}}));
  EXPECT_EQ(classes(image), Lines{"any-name!/m/p/A.class"});
  EXPECT_EQ(entries(image), (Lines{"any-name!/m/p/A.class", "any-name!/m/p/r.txt"}));
}

TEST_F(ClassSource, TheCallbackCanStop) {
  for (const char* name : {"a/1.class", "a/2.class", "b/3.class"}) write(name, kClass);
  EXPECT_EQ(visited(for_each_class, folder_, 1), Lines{"a/1.class"});
  const fs::path jar = write("x.jar", make_zip({{.name = "1.class"}, {.name = "2.class"}, {.name = "3.class"}}));
  EXPECT_EQ(visited(for_each_class, jar, 2), (Lines{"x.jar!/1.class", "x.jar!/2.class"}));
}

TEST_F(ClassSource, AnUnreadableContainerIsTheResult) {
  EXPECT_EQ(classes(folder_ / "missing.jar"), Lines{"<not-found>"});
  EXPECT_EQ(classes(write("empty.jar", "")), Lines{"<malformed>"});
  EXPECT_EQ(classes(write("notes.txt", "nothing of interest")), Lines{"<malformed>"});
  EXPECT_EQ(classes("/dev/null"), Lines{"<invalid-argument>"});

  const auto result = for_each_class(
      folder_ / "notes.txt", [](const ClassEntry&) { return true; }, [](const std::string&, const Error&) {});
  EXPECT_TRUE(result.error().to_string().starts_with((folder_ / "notes.txt").string() + ": not a zip archive"));
}

TEST_F(ClassSource, MappedFilesMoveAndMayBeEmpty) {
  EXPECT_TRUE(MappedFile::open(write("empty", ""))->bytes().empty());
  MappedFile file = MappedFile::open(write("text", "text")).value();
  MappedFile other = std::move(file);
  EXPECT_EQ(as_text(other.bytes()), "text");
  const Error error = MappedFile::open("/no/such").error();
  EXPECT_EQ(error.to_string(), "/no/such: cannot open: No such file or directory");
}

// What the fuzzers found once, and the seeds they start from. Tests run in the root of the source tree.
void replay(const std::string& fuzzer, void (*exercise)(Bytes)) {
  for (const std::string kind : {"corpus", "regressions"}) {
    const fs::path folder = fs::path("test/fuzz") / kind / fuzzer;
    if (!fs::is_directory(folder)) continue;
    const auto result = for_each_entry(
        folder,
        [&](const Entry& entry) {
          exercise(entry.bytes);
          return true;
        },
        [](const std::string& name, const Error& error) { ADD_FAILURE() << name << ": " << error.to_string(); });
    EXPECT_TRUE(result.ok());
  }
}

TEST(FuzzInputs, ReplayWithoutACrash) {
  replay("zip_fuzz", exercise_zip);
  replay("jimage_fuzz", exercise_jimage);
}

}  // namespace
}  // namespace sonde::archive
