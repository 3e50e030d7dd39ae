// SPDX-License-Identifier: Apache-2.0
// `sonde export` and `sonde import` as a user meets them: what they write, and what they say if it does not work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/exchange_command.h"
#include "cli/memory_console.h"
#include "format/html/writer.h"

namespace sonde::cli {
namespace {

using testing::HasSubstr;

class Exchange : public testing::Test {
 protected:
  Exchange() { std::filesystem::create_directories(folder_); }
  ~Exchange() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int import(ImportOptions options) {
    options.out = path("x.sonde");
    return import_file(options, memory_.console());
  }
  int export_to(ExportFormat format, const std::string& out) {
    return export_recording({.file = path("x.sonde"), .to = format, .out = path(out)}, memory_.console());
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("sonde_exchange_test." + std::to_string(::getpid()));
  MemoryConsole memory_;
};

constexpr const char* kStacks = "main;a.B.c 2\nmain;a.B.c;a.B.d 3\nworker;a.B.d 1\n";

TEST_F(Exchange, GoesThroughEveryFormatThatCanBeRead) {
  ASSERT_EQ(import({.file = file("stacks.txt", kStacks)}), kOk) << memory_.err();
  for (const auto& [format, name] : {std::pair{ExportFormat::kPprof, "x.pprof"}, std::pair{ExportFormat::kJfr, "x.jfr"},
                                     std::pair{ExportFormat::kCollapsed, "x.txt"}}) {
    ASSERT_EQ(export_to(format, name), kOk) << memory_.err();
    ASSERT_EQ(import({.file = path(name)}), kOk) << memory_.err();  // the format is found out
    ASSERT_EQ(export_to(ExportFormat::kCollapsed, "again.txt"), kOk);
    EXPECT_EQ(content("again.txt"), kStacks) << name;
  }
}

TEST_F(Exchange, TakesNumbersAsTheMetricThatIsNamed) {
  ASSERT_EQ(import({.file = file("stacks.txt", kStacks), .metric = profile::Metric::kCalls}), kOk);
  ASSERT_EQ(export_to(ExportFormat::kJsonl, "x.jsonl"), kOk);
  EXPECT_THAT(content("x.jsonl"), HasSubstr("{\"thread\":\"worker\",\"stack\":[\"a/B.d\"],\"calls\":1}\n"));
}

TEST_F(Exchange, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(import({.file = path("missing")}), kFailed);
  EXPECT_EQ(import({.file = file("bad.txt", "main;a.B.c 2\nno number\n")}), kFailed);
  EXPECT_EQ(import({.file = file("empty.txt", "")}), kFailed);
  EXPECT_EQ(import({.file = file("cut.gz", "\x1f\x8b\x08")}), kFailed);
  EXPECT_EQ(import({.file = file("short.jfr", std::string("FLR\0\0\2", 6))}), kFailed);
  for (const char* expected :
       {"missing: ", "bad.txt: line 2: `number` is not a number of 64 bits", "empty.txt: holds no samples",
        "cut.gz: gzip: ends too early (byte 3)", "short.jfr: chunk 1: the header is cut off (byte 6)"}) {
    EXPECT_THAT(memory_.err(), HasSubstr(expected));
  }
  EXPECT_FALSE(std::filesystem::exists(path("x.sonde")));
}

TEST_F(Exchange, ComparesInHtmlOnly) {
  ASSERT_EQ(import({.file = file("stacks.txt", kStacks)}), kOk);
  ExportOptions options = {.file = path("x.sonde"), .to = ExportFormat::kCsv, .diff = path("x.sonde")};
  EXPECT_EQ(export_recording(options, memory_.console()), kFailed);
  EXPECT_THAT(memory_.err(), HasSubstr("--diff works with --to html only"));
}

TEST_F(Exchange, WritesAPageOrSaysThatItCannot) {
  ASSERT_EQ(import({.file = file("stacks.txt", "main;a.<script>alert(1)</script> 2\n")}), kOk);
  if (!format::html::is_available()) {
    EXPECT_EQ(export_to(ExportFormat::kHtml, "x.html"), kFailed);
    EXPECT_THAT(memory_.err(), HasSubstr("built without the browser view"));
    return;
  }
  ASSERT_EQ(export_to(ExportFormat::kHtml, "x.html"), kOk);
  const std::string page = content("x.html");
  EXPECT_EQ(page.find("alert(1)"), std::string::npos);  // names are data only
  EXPECT_EQ(page.find("%SONDE_"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
}

}  // namespace
}  // namespace sonde::cli
