// SPDX-License-Identifier: Apache-2.0
// For tests of commands that read recordings: a temporary folder, recordings in it from drawings (arena/test_arena.h),
// and golden texts. With SONDE_UPDATE_GOLDENS=1 in the environment the texts are written anew; test/golden/update does
// that.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "arena/test_arena.h"
#include "cli/memory_console.h"
#include "store/store.h"

namespace sonde::cli {

class DrawnRecordings : public ::testing::Test {
 protected:
  // `goldens` from the root of the source tree, where ctest runs tests.
  explicit DrawnRecordings(std::filesystem::path goldens) : goldens_(std::move(goldens)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde-recording-XXXXXX").string();
    SONDE_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~DrawnRecordings() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  [[nodiscard]] std::string live_folder(const std::string& name, const arena::TestArena& arena) const {
    const std::filesystem::path live = folder_ / (name + ".sonde.live");
    std::filesystem::create_directories(live);
    std::ofstream(live / store::kArenaFile, std::ios::binary) << as_text(arena.bytes());
    return live.string();
  }
  [[nodiscard]] std::string drawn(const std::string& name, std::string_view drawing) const {
    return live_folder(name, arena::TestArena(drawing));
  }

  void expect_golden(const std::string& name, const std::string& actual) const {
    const std::filesystem::path path = goldens_ / (name + ".expected");
    if (std::getenv("SONDE_UPDATE_GOLDENS") != nullptr) std::ofstream(path, std::ios::binary) << actual;
    EXPECT_EQ(actual, read(path)) << path;
  }

  std::filesystem::path goldens_;
  std::filesystem::path folder_;
  MemoryConsole memory_;
};

}  // namespace sonde::cli
