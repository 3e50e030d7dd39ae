// SPDX-License-Identifier: Apache-2.0
#include "cli/classfile_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/glob.h"
#include "cli/memory_console.h"

namespace sonde::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// ctest runs tests in the root of the source tree.
const std::string kGoldens = "test/golden/classfile";
const std::string kTour = kGoldens + "/Tour.class";

class ClassfileCommand : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  MemoryConsole memory_;
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("sonde_cli_test_" + std::to_string(::getpid()));
};

TEST_F(ClassfileCommand, DumpPrintsEveryClassUnderAHeading) {
  EXPECT_EQ(classfile_dump({.paths = {kGoldens}, .class_pattern = ""}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(),
              AllOf(StartsWith("# " + kGoldens + "/Odd.class\npublic class Odd extends java/lang/Object\n"),
                    HasSubstr("\n\n# " + kTour + "\n"), HasSubstr("\nConstant pool:\n")));
  EXPECT_THAT(memory_.err(), IsEmpty());
}

TEST_F(ClassfileCommand, DumpPrintsLessOnRequest) {
  EXPECT_EQ(classfile_dump({.paths = {kGoldens}, .no_pool = true, .class_pattern = "Tour$*"}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), AllOf(HasSubstr("Tour$Point.class\n"), HasSubstr("\nMethods: "),
                                   Not(HasSubstr("Tour.class\n")), Not(HasSubstr("Constant pool"))));
}

TEST_F(ClassfileCommand, DumpSaysSoIfNoClassMatches) {
  EXPECT_EQ(classfile_dump({.paths = {kTour}, .class_pattern = "Tuor"}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.out(), IsEmpty());
  EXPECT_THAT(memory_.err(), HasSubstr("no class of 1 matches `Tuor`"));
}

TEST_F(ClassfileCommand, CheckSummarisesWhatItRead) {
  EXPECT_EQ(classfile_check({.paths = {kGoldens}}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), AllOf(StartsWith("5 classes, 19 methods, "),
                                   HasSubstr(" instructions, 0 problems, versions 48..61 in 0.0")));
}

TEST_F(ClassfileCommand, CheckListsProblemsWithTheirPlace) {
  const std::string tour = read(kTour);
  const std::string cut = file("Cut.class", tour.substr(0, 1000));
  EXPECT_EQ(classfile_check({.paths = {cut, kTour}, .quiet = true}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.out(), StartsWith(cut + ": "));
  EXPECT_THAT(memory_.out(), HasSubstr("(byte "));
}

TEST_F(ClassfileCommand, CheckPrintsJson) {
  const std::string empty = file("Empty.class", "");
  EXPECT_EQ(classfile_check({.paths = {empty, kTour}, .json = true}, memory_.console()), kFailed);
  const auto report = nlohmann::json::parse(memory_.out());
  EXPECT_EQ(report["classes"], 1);
  EXPECT_EQ(report["newest_version"], 61);
  ASSERT_EQ(report["problems"].size(), 1);
  EXPECT_EQ(report["problems"][0]["class"], empty);
  EXPECT_EQ(report["problems"][0]["code"], "truncated");
  EXPECT_EQ(report["problems"][0]["message"], "the file is empty");
}

TEST_F(ClassfileCommand, RoundtripLeavesTheGoldensAsTheyAre) {
  EXPECT_EQ(classfile_roundtrip({.paths = {kGoldens}}, memory_.console()), kOk);
  EXPECT_THAT(memory_.out(), AllOf(StartsWith("5 classes, "), HasSubstr("all identical")));
}

TEST_F(ClassfileCommand, WrongPathsAreExplained) {
  const std::string missing = (folder_ / "missing.jar").string();
  EXPECT_EQ(classfile_check({.paths = {missing}}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr("sonde: " + missing + ": "), HasSubstr("A path may be a .class file, ")));
}

TEST_F(ClassfileCommand, ANewerClassIsReadWithANote) {
  std::string newer = read(kTour);
  newer[7] = 99;
  EXPECT_EQ(classfile_check({.paths = {file("Newer.class", newer)}}, memory_.console()), kOk);
  EXPECT_THAT(memory_.err(), HasSubstr("note: 1 of 1 classes are newer than version"));
}

TEST_F(ClassfileCommand, AFileThatIsNoClassIsExplained) {
  const std::string text = file("Text.class", "public class Text {}");
  EXPECT_EQ(classfile_dump({.paths = {text}, .class_pattern = ""}, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), AllOf(HasSubstr(text + ": magic: does not start with CAFEBABE"), HasSubstr("`file`")));
}

TEST_F(ClassfileCommand, AFolderWithoutClassesIsAFailureOnlyIfItIsAll) {
  EXPECT_EQ(classfile_check({.paths = {folder_.string(), kTour}}, memory_.console()), kOk);
  EXPECT_THAT(memory_.err(), HasSubstr("holds no .class files"));
  EXPECT_EQ(classfile_check({.paths = {folder_.string()}}, memory_.console()), kFailed);
}

TEST(ClassNameGlob, MatchesWholeNamesWithDotsOrSlashes) {
  EXPECT_TRUE(class_name_matches("java.util.*Map", "java/util/HashMap"));
  EXPECT_TRUE(class_name_matches("java/util/*Map", "java/util/concurrent/ConcurrentHashMap"));
  EXPECT_TRUE(class_name_matches("*", "a"));
  EXPECT_TRUE(class_name_matches("a?c*", "abc"));
  EXPECT_TRUE(class_name_matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(class_name_matches("java.util.*Map", "java/util/HashMap$Node"));
  EXPECT_FALSE(class_name_matches("", "a"));
  EXPECT_FALSE(class_name_matches("a", "ab"));
}

TEST(Numbers, AreReadable) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(27013), "27,013");
  EXPECT_EQ(grouped(1234567890), "1,234,567,890");
  EXPECT_EQ(rounded(999'999), "999,999");
  EXPECT_EQ(rounded(12'345'678), "12.3 M");
  EXPECT_EQ(seconds(std::chrono::milliseconds(84)), "0.08 s");
  EXPECT_EQ(seconds(std::chrono::milliseconds(1234)), "1.2 s");
}

}  // namespace
}  // namespace sonde::cli
