// SPDX-License-Identifier: Apache-2.0
#include "archive/jimage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "archive/exercise.h"
#include "archive/test_archives.h"
#include "base/mapped_file.h"

namespace sonde::archive {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const std::vector<TestResource> kResources = {
    {.module = "java.base", .parent = "java/lang", .base = "Object", .extension = "class", .content = "object"},
    {.module = "java.base", .parent = "", .base = "module-info", .extension = "class", .content = "info"},
    {.module = "m", .parent = "META-INF", .base = "NOTICE", .extension = "", .content = ""},
    {.module = "m", .parent = "p", .base = "Z", .extension = "class", .content = "zipped", .decompressor = "zip"}};

// "path=content" per resource, or the error's code in angle brackets.
Lines listing(Bytes bytes) {
  const Result<JImage> image = JImage::open(bytes);
  if (!image.ok()) return {"<" + std::string(name_of(image.error().code)) + ">"};
  Lines lines;
  Buffer scratch;
  for (const JImageResource& resource : image->resources()) {
    const Result<Bytes> content = image->read(resource, scratch);
    lines.push_back(
        resource.path() + "=" +
        (content.ok() ? std::string(as_text(*content)) : "<" + std::string(name_of(content.error().code)) + ">"));
  }
  return lines;
}

TEST(JImage, ListsAndReadsResources) {
  EXPECT_EQ(listing(make_jimage(kResources)),
            (Lines{"/java.base/java/lang/Object.class=object", "/java.base/module-info.class=info",
                   "/m/META-INF/NOTICE=", "/m/p/Z.class=zipped"}));
}

TEST(JImage, SkipsTheNodesOfTheDirectoryTree) {
  const Buffer image = make_jimage({{.module = "modules", .parent = "", .base = "java.base/java", .extension = ""},
                                    {.module = "packages", .parent = "", .base = "java.lang", .extension = ""},
                                    {.module = "", .parent = "", .base = "", .extension = ""},
                                    {.module = "m", .parent = "p", .base = "A", .extension = "class", .content = "a"}});
  EXPECT_EQ(listing(image), Lines{"/m/p/A.class=a"});
}

TEST(JImage, OtherCompressionsAreUnsupportedWithAdvice) {
  const Buffer bytes = make_jimage({{.module = "m",
                                     .parent = "p",
                                     .base = "A",
                                     .extension = "class",
                                     .content = "a",
                                     .decompressor = "compact-cp"}});
  const auto image = JImage::open(bytes);
  Buffer scratch;
  const Error error = image->read(image->resources()[0], scratch).error();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(error.to_string(),
            "resource `/m/p/A.class`: compressed with `compact-cp`; run `jimage extract` and give the folder");
}

TEST(JImage, CompressedContentNeedsItsHeader) {
  Buffer bytes = make_jimage({kResources[3]});
  const std::uint8_t magic[] = {0xfa, 0xfa, 0xfe, 0xca};
  *std::search(bytes.begin(), bytes.end(), std::begin(magic), std::end(magic)) = 0;
  EXPECT_EQ(listing(bytes), Lines{"/m/p/Z.class=<malformed>"});
}

TEST(JImage, RefusesOtherFormatsVersionsAndByteOrders) {
  EXPECT_EQ(listing({}), Lines{"<malformed>"});
  EXPECT_EQ(listing(as_bytes("\xca\xfe\xba\xbe, a class")), Lines{"<malformed>"});
  EXPECT_EQ(listing(as_bytes("\xca\xfe\xda\xda of a big-endian machine")), Lines{"<unsupported>"});
  EXPECT_EQ(listing(make_jimage(kResources, 0x20000)), Lines{"<unsupported>"});
  EXPECT_EQ(listing(make_jimage(kResources, 0x10001)).size(), kResources.size()) << "minor versions only add";
}

TEST(JImage, HugeTableLengthIsTruncationAndNoAllocation) {
  Buffer image = make_jimage(kResources);
  std::fill_n(image.begin() + 16, 4, std::uint8_t{0xff});
  EXPECT_EQ(listing(image), Lines{"<truncated>"});
}

TEST(JImage, LimitIsTheCallersChoice) {
  const Buffer bytes = make_jimage(kResources);
  const auto image = JImage::open(bytes, 5);
  Buffer scratch;
  EXPECT_EQ(image->read(image->resources()[0], scratch).error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(image->read(image->resources()[1], scratch).ok());
}

TEST(JImage, TruncatedAnywhere) {
  const Buffer image = make_jimage(kResources);
  const Lines whole = listing(image);
  for (std::size_t size = 0; size < image.size(); ++size) {
    const Buffer cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(size));
    exercise_jimage(cut);
    EXPECT_NE(listing(cut), whole) << size;
  }
}

TEST(JImage, EveryByteFlippedInEveryBit) {
  const Buffer image = make_jimage(kResources);
  for (std::size_t at = 0; at < image.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Buffer damaged = image;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 << bit));
      exercise_jimage(damaged);
    }
    Buffer saturated = image;
    saturated[at] = 0xff;
    exercise_jimage(saturated);
  }
}

// The modules files of the JDKs of this machine, or of the one that SONDE_TEST_JDK names.
std::set<fs::path> jdk_images() {
  std::set<fs::path> images;
  std::error_code error;
  const auto add = [&](const fs::path& jdk) {
    const fs::path image = fs::canonical(jdk / "lib" / "modules", error);
    if (!error) images.insert(image);
  };
  if (const char* jdk = std::getenv("SONDE_TEST_JDK")) {
    add(jdk);
    return images;
  }
  for (fs::directory_iterator it("/usr/lib/jvm", error), end; !error && it != end; it.increment(error)) add(it->path());
  return images;
}

TEST(JImage, ReadsTheClassesOfRealJdks) {
  const auto paths = jdk_images();
  if (paths.empty()) GTEST_SKIP() << "no JDK; set SONDE_TEST_JDK";
  for (const fs::path& path : paths) {
    SCOPED_TRACE(path);
    const auto file = MappedFile::open(path);
    ASSERT_TRUE(file.ok());
    const auto image = JImage::open(file->bytes());
    ASSERT_TRUE(image.ok()) << image.error().to_string();
    Buffer scratch;
    int classes = 0;
    bool has_object = false;
    for (const JImageResource& resource : image->resources()) {
      if (resource.extension != "class") continue;
      const Result<Bytes> content = image->read(resource, scratch);
      ASSERT_TRUE(content.ok()) << content.error().to_string();
      ASSERT_EQ(load_u4(content->data()), 0xcafebabe) << resource.path();
      ++classes;
      has_object |= resource.path() == "/java.base/java/lang/Object.class";
    }
    EXPECT_GT(classes, 5'000);
    EXPECT_TRUE(has_object);
  }
}

}  // namespace
}  // namespace sonde::archive
