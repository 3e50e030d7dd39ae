// SPDX-License-Identifier: Apache-2.0
#include "agent/session/jdk_callbacks.h"

#include <gmock/gmock.h>

namespace sonde::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "0 java/util/Comparator": depth and parameter of each object that is passed.
std::vector<std::string> passed(const NamedMethod& callee) {
  std::vector<std::string> texts;
  for (const PassedObject& object : objects_passed_to_jdk(callee))
    texts.push_back(std::to_string(object.depth) + " " + object.as);
  return texts;
}

std::vector<std::string> asked(const NamedMethod& callee, std::uint32_t depth) {
  std::vector<std::string> names;
  for (const NamedMethod& method : called_of_object(callee, depth)) names.push_back(method.name);
  return names;
}

const NamedMethod kGet{"java/util/Map", "get", "(Ljava/lang/Object;)Ljava/lang/Object;"};
const NamedMethod kPut{"java/util/Map", "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"};
const NamedMethod kConcatenation{"", "makeConcatWithConstants", "(Lapp/Key;I)Ljava/lang/String;"};

TEST(JdkCallbacks, TheLastTwoArgumentsMayBeObjectsOfTheProgram) {
  EXPECT_THAT(passed({"java/util/TreeMap", "<init>", "(Ljava/util/Comparator;)V"}),
              ElementsAre("0 java/util/Comparator"));
  EXPECT_THAT(passed({"java/util/Arrays", "sort", "([Ljava/lang/Object;IILjava/util/Comparator;)V"}),
              ElementsAre("0 java/util/Comparator"));
  EXPECT_THAT(passed({"java/util/Map", "merge", "(Ljava/lang/Object;Ljava/util/Map;Ljava/util/function/Function;)V"}),
              ElementsAre("0 java/util/function/Function", "1 java/util/Map"));
  EXPECT_THAT(passed({"java/util/Timer", "schedule", "(Ljava/util/TimerTask;I)V"}),
              ElementsAre("1 java/util/TimerTask"));
}

TEST(JdkCallbacks, NothingLiesBelowALong) {
  EXPECT_THAT(passed({"java/util/Timer", "schedule", "(Ljava/util/TimerTask;J)V"}), IsEmpty());
}

TEST(JdkCallbacks, OnlyTheJdkIsOfInterest) {
  EXPECT_THAT(passed({"app/Shop", "sort", "(Ljava/util/Comparator;)V"}), IsEmpty());
  EXPECT_THAT(passed({"java/lang/Object", "equals", "(Ljava/lang/Object;)Z"}), IsEmpty());
}

TEST(JdkCallbacks, AStringIsNoObjectOfTheProgram) {
  EXPECT_THAT(passed({"java/io/PrintStream", "println", "(Ljava/lang/String;)V"}), IsEmpty());
}

TEST(JdkCallbacks, AMapAsksItsKeysAndNotItsValues) {
  EXPECT_THAT(asked(kGet, 0), ElementsAre("hashCode", "equals", "compareTo"));
  EXPECT_THAT(passed(kPut), ElementsAre("1 java/lang/Object"));
}

TEST(JdkCallbacks, AListAsksNothingOfWhatItKeeps) {
  EXPECT_THAT(passed({"java/util/ArrayList", "add", "(Ljava/lang/Object;)Z"}), IsEmpty());
  EXPECT_THAT(passed({"java/util/Set", "add", "(Ljava/lang/Object;)Z"}), ElementsAre("0 java/lang/Object"));
}

TEST(JdkCallbacks, TextIsMadeByToString) {
  const NamedMethod append{"java/lang/StringBuilder", "append", "(Ljava/lang/Object;)Ljava/lang/StringBuilder;"};
  EXPECT_THAT(asked(append, 0), ElementsAre("toString"));
  EXPECT_THAT(passed(kConcatenation), ElementsAre("1 java/lang/Object"));
  EXPECT_THAT(asked(kConcatenation, 1), ElementsAre("toString"));
}

}  // namespace
}  // namespace sonde::agent
