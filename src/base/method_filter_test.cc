// SPDX-License-Identifier: Apache-2.0
#include "base/method_filter.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(MethodFilter, PatternsNamePackagesClassesAndMethods) {
  const auto matches = [](const char* pattern) { return method_matches(pattern, "java/util/HashMap", "put"); };
  for (const char* pattern :
       {"*", "java.*", "java.util.*", "java/util/*", "java.util.HashMap", "java.util.HashMap.put",
        "java.util.HashMap.*", "java.*.put", "HashMap", "HashMap.put", "HashMap.p?t", "Hash*.put"}) {
    EXPECT_TRUE(matches(pattern)) << pattern;
  }
  for (const char* pattern : {"", "java", "java.util", "util.*", "put", "HashMap.get", "Map.put", "java.util.Hash"}) {
    EXPECT_FALSE(matches(pattern)) << pattern;
  }
  EXPECT_TRUE(method_matches("App.main", "App", "main")) << "in the unnamed package";
  EXPECT_TRUE(method_matches("App.<init>", "p/App", "<init>"));
  EXPECT_TRUE(method_matches("Map$Entry", "java/util/Map$Entry", "getKey"));
}

TEST(MethodFilter, ExcludeWinsOverInclude) {
  EXPECT_TRUE(MethodFilter().accepts("a/B", "c"));
  EXPECT_TRUE(MethodFilter().accepts_everything());
  const MethodFilter filter({"a.*", "x.*"}, {"*.get*"});
  EXPECT_TRUE(filter.accepts("a/B", "c"));
  EXPECT_TRUE(filter.accepts("x/B", "c"));
  EXPECT_FALSE(filter.accepts("a/B", "getC"));
  EXPECT_FALSE(filter.accepts("b/B", "c"));
  EXPECT_FALSE(MethodFilter({}, {"*"}).accepts("a/B", "c"));
}

}  // namespace
}  // namespace sonde
