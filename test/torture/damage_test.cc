// SPDX-License-Identifier: Apache-2.0
// Real classes, cut short at every byte and with every byte changed. What earlier fuzzing found is replayed as well.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "archive/class_source.h"
#include "classfile/class_file.h"
#include "exercise.h"

namespace sonde::torture {
namespace {

namespace fs = std::filesystem;
using ClassBytes = std::vector<std::uint8_t>;

// Loops, switches, handlers, lambdas, inner classes, annotations, generics: small classes that have some of each.
const std::set<std::string, std::less<>> kNames = {
    "java.base/java/util/Optional.class",      "java.base/java/lang/Boolean.class",
    "java.base/java/util/StringJoiner.class",  "java.base/java/io/StringReader.class",
    "java.base/java/lang/ThreadLocal.class",   "java.base/java/util/zip/GZIPInputStream.class",
    "java.base/java/lang/Enum.class",          "java.base/java/lang/Runtime.class",
    "java.base/java/util/PriorityQueue.class", "java.base/java/io/LineNumberReader.class"};

fs::path some_modules_file() {
  if (const char* jdk = std::getenv("SONDE_TEST_JDK")) return fs::path(jdk) / "lib/modules";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/jvm", ignored)) {
    if (fs::exists(entry.path() / "lib/modules", ignored)) return entry.path() / "lib/modules";
  }
  return {};
}

const std::map<std::string, ClassBytes>& real_classes() {
  static const std::map<std::string, ClassBytes> classes = [] {
    std::map<std::string, ClassBytes> found;
    const fs::path modules = some_modules_file();
    if (modules.empty()) return found;
    const auto visited = archive::for_each_class(
        modules,
        [&](const archive::Entry& entry) {
          if (kNames.contains(entry.path))
            found.emplace(entry.path, ClassBytes(entry.bytes.begin(), entry.bytes.end()));
          return found.size() < kNames.size();
        },
        [](const std::string& name, const Error& error) { ADD_FAILURE() << name << ": " << error.to_string(); });
    EXPECT_TRUE(visited.ok());
    return found;
  }();
  return classes;
}

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (real_classes().empty()) GTEST_SKIP() << "no JDK; set SONDE_TEST_JDK";
    ASSERT_EQ(real_classes().size(), kNames.size());
  }
};

TEST_F(Damage, EveryTruncationIsAnErrorWithALocation) {
  for (const auto& [name, bytes] : real_classes()) {
    ASSERT_EQ(exercise(bytes), "") << name;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // A copy of exactly this size, so that a sanitizer sees a read behind it.
      const ClassBytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const auto parsed = classfile::ClassFile::parse(cut);
      ASSERT_FALSE(parsed.ok()) << name << " cut at " << size;
      ASSERT_TRUE(parsed.error().where.byte_offset.has_value()) << name << " cut at " << size;
      ASSERT_LE(*parsed.error().where.byte_offset, size);
    }
  }
}

TEST_F(Damage, EveryChangedByteIsAnErrorOrAClassThatCanBeEdited) {
  for (const auto& [name, bytes] : real_classes()) {
    ClassBytes changed = bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const std::uint8_t flip : {0xff, 0x01}) {
        changed[i] = static_cast<std::uint8_t>(bytes[i] ^ flip);
        ASSERT_EQ(exercise(changed), "") << name << ", byte " << i << " flipped by " << int{flip};
      }
      changed[i] = bytes[i];
    }
  }
}

TEST(FuzzRegressions, StayFixed) {
  for (const char* folder : {"class_file_fuzz", "class_editor_fuzz", "cfg_fuzz"}) {
    const fs::path path = fs::path("test/fuzz/regressions") / folder;
    if (!fs::exists(path)) continue;
    for (const auto& file : fs::directory_iterator(path)) {
      std::ifstream in(file.path(), std::ios::binary);
      const ClassBytes bytes((std::istreambuf_iterator<char>(in)), {});
      EXPECT_EQ(exercise(bytes), "") << file.path();
    }
  }
}

}  // namespace
}  // namespace sonde::torture
