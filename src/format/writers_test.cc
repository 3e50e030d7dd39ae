// SPDX-License-Identifier: Apache-2.0
// What the writers write, as far as it is text; test/e2e/format asks the programs that read these formats.
#include <gtest/gtest.h>

#include <algorithm>

#include "format/contexts.h"
#include "format/csv/writer.h"
#include "format/firefox/writer.h"
#include "format/hproftext/writer.h"
#include "format/jfr/writer.h"
#include "format/pprof/writer.h"
#include "format/profile_builder.h"
#include "format/speedscope/writer.h"
#include "format/test_format.h"

namespace sonde::format {
namespace {

using profile::drawn_profile;
using profile::Metric;
using profile::Profile;

constexpr const char* kDrawing = R"(
thread worker
  App.run()V 1 1
thread main
  p/App.main([Ljava/lang/String;)V 1 20
    p/App.run(I)V 2 14 @12
      p/App.get()I 4 12 @30
    p/App.run(I)V 3 6 @13
      p/App.get()I 1 3 @30
    java/lang/Thread.sleep0(J)V 5 0 @15 native
thread main
  p/App.main([Ljava/lang/String;)V 1 2
)";

const std::vector<std::pair<std::string, Write>> kWriters = {
    {"pprof", pprof::write},
    {"speedscope", speedscope::write},
    {"csv", csv::write},
    {"hprof-text", [](const auto& p, const auto& s) { return hproftext::write(p, Metric::kBytecodes, 4, s); }},
    {"firefox", with_metric(firefox::write, Metric::kBytecodes)},
    {"jfr", jfr::write},
};

TEST(Contexts, KeepOrMergeCallSites) {
  const Profile profile = drawn_profile(kDrawing);
  const MethodOrder order(profile);
  const std::vector<profile::MetricInfo> types = profile::metrics_of(profile);
  const auto text = [&](CallSites call_sites) {
    std::string lines;
    const Contexts contexts = contexts_of(profile, order, profile.all_threads(), types, call_sites);
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      lines += std::string(contexts.depth[i], ' ') + profile.method(contexts.method[i]).name + " " +
               std::to_string(contexts.line[i]) + " " + std::to_string(contexts.values[0][i]) + " " +
               std::to_string(contexts.values[1][i]) + "\n";
    }
    return lines;
  };
  EXPECT_EQ(text(CallSites::kMerge), "run 0 1 1\nmain 0 2 22\n sleep0 0 5 0\n run 0 5 20\n  get 0 5 15\n");
  EXPECT_EQ(text(CallSites::kKeep),
            "run 0 1 1\nmain 0 2 22\n sleep0 15 5 0\n run 12 2 14\n  get 30 4 12\n run 13 3 6\n  get 30 1 3\n");
}

TEST(Metrics, AreThoseOfWhichThereIsAnything) {
  EXPECT_EQ(profile::metrics_of(drawn_profile("thread main\n  A.a()V 1 0\n")).size(), 1U);
  EXPECT_EQ(profile::metrics_of(drawn_profile(kDrawing)).size(), 2U);
  EXPECT_FALSE(profile::metrics_of(Profile()).empty());
}

TEST(Writers, DoNotDependOnTheOrderOfThreads) {
  const Profile one = drawn_profile("thread a\n  A.a()V 1 2\n    B.b()V 3 4 @7\nthread b\n  B.b()V 5 6\n");
  const Profile two = drawn_profile("thread b\n  B.b()V 5 6\nthread a\n  A.a()V 1 2\n    B.b()V 3 4 @7\n");
  for (const auto& [name, write] : kWriters) EXPECT_EQ(written(write, one), written(write, two)) << name;
}

TEST(Writers, StopIfNothingMoreCanBeWritten) {
  for (const auto& [name, write] : kWriters) {
    int pieces = 0;
    EXPECT_FALSE(write(drawn_profile(kDrawing), [&](std::string_view) { return ++pieces < 1; })) << name;
    EXPECT_EQ(pieces, 1) << name;
  }
}

TEST(Writers, TakeAnEmptyProfile) {
  for (const auto& [name, write] : kWriters) EXPECT_NE(written(write, Profile()), "") << name;
}

TEST(Csv, HasARowPerMethod) {
  EXPECT_EQ(written(csv::write, drawn_profile("thread t\n  p/A.a(IJ)V 1 2\n    p/A.a(IJ)V 3 4 @7\n")),
            "package,class,method,descriptor,file,line,jdk,calls_self,calls_total,bytecodes_self,bytecodes_total\r\n"
            "p,p.A,a,(IJ)V,A.java,1,0,4,4,6,6\r\n");
  EXPECT_NE(written(csv::write, drawn_profile("thread t\n  =A,\"B.a()V 1 2\n")).find("\"'=A,\"\"B\""),
            std::string::npos);
}

TEST(HprofText, SumsWhatItsFramesDoNotTellApart) {
  const Profile profile = drawn_profile(
      "thread main\n  A.a()V 1 10\n    A.b()V 1 20 @3\n      A.c()V 1 30 @4\n    A.d()V 1 0 @5\n      A.c()V 1 7 @6\n");
  const std::string text =
      written([](const auto& p, const auto& s) { return hproftext::write(p, Metric::kBytecodes, 1, s); }, profile);
  EXPECT_NE(text.find("rank   self  accum   count trace method\n"
                      "   1 55.22% 55.22%      37 300003 A.c\n"
                      "   2 29.85% 85.07%      20 300002 A.b\n"
                      "   3 14.93% 100.00%      10 300001 A.a\n"
                      "CPU SAMPLES END\n"),
            std::string::npos)
      << text;
  const std::string deep = written(kWriters[3].second, profile);
  EXPECT_NE(deep.find("TRACE 300003: (thread=1)\n\tA.c(A.java:Unknown line)\n\tA.b(A.java:4)\n\tA.a(A.java:3)\n"),
            std::string::npos)
      << deep;
}

TEST(HprofText, HasTimesInMilliseconds) {
  const auto write = [](const auto& p, const auto& s) { return hproftext::write(p, Metric::kCpuNs, 4, s); };
  const std::string text = written(write, sampled_profile("thread main\n  A.a()V 1 3\n    A.b()V 1 1 @3\n"));
  EXPECT_NE(text.find("The counts are milliseconds of CPU time.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("CPU TIME (ms) BEGIN (total = 40) "), std::string::npos) << text;
  EXPECT_NE(text.find("   1 75.00% 75.00%      30 300001 A.a\n"), std::string::npos) << text;
}

TEST(HprofText, HasSitesForAllocations) {
  ProfileBuilder builder;
  const profile::MethodId main = builder.method("app.Main.main");
  const profile::MethodId parse = builder.method("app.Main.parse");
  const profile::MethodId text = builder.method({.class_name = {}, .name = "java.lang.String"});
  const auto allocate = [&](std::initializer_list<Frame> frames, std::uint64_t bytes, std::uint64_t objects) {
    const std::vector<Frame> stack = frames;
    const std::vector<Value> values = {{.metric = Metric::kAllocatedBytes, .amount = bytes},
                                       {.metric = Metric::kAllocations, .amount = objects}};
    EXPECT_TRUE(builder.add(builder.thread("main"), stack, values).ok());
  };
  allocate({{.method = main}, {.method = parse, .line = 3}, {.method = text, .line = 7}}, 300, 2);
  allocate({{.method = main}, {.method = text, .line = 4}}, 500, 9);
  allocate({{.method = main}}, 200, 1);
  const Result<Profile> profile = std::move(builder).finish();
  ASSERT_TRUE(profile.ok());
  const auto write = [](const auto& p, const auto& s) { return hproftext::write(p, Metric::kAllocatedBytes, 4, s); };
  const std::string sites = written(write, *profile);
  EXPECT_NE(sites.find("          percent          live          alloc'ed  stack class\n"
                       " rank   self  accum     bytes objs     bytes  objs trace name\n"
                       "    1 50.00% 50.00%         0    0       500     9 300003 java.lang.String\n"
                       "    2 30.00% 80.00%         0    0       300     2 300002 java.lang.String\n"
                       "    3 20.00% 100.00%         0    0       200     1 300001 <Unknown_class>\n"
                       "SITES END\n"),
            std::string::npos)
      << sites;
  EXPECT_NE(sites.find("TRACE 300002: (thread=1)\n\tapp/Main.parse(Unknown Source)\n\tapp/Main.main(Unknown Source)\n"),
            std::string::npos)
      << sites;
}

TEST(Firefox, HasTimesToTheNanosecond) {
  Profile profile = sampled_profile("thread main\n  A.a()V 1 3\n");
  profile.tree.column(Metric::kCpuNs).back() = 12'003'400;
  const std::string text = written(with_metric(firefox::write, Metric::kCpuNs), profile);
  EXPECT_NE(text.find(R"("weightType":"tracing-ms")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("weight":[12.003400])"), std::string::npos) << text;
}

TEST(Speedscope, OpensTheThreadThatDidMost) {
  const std::string text = written(
      speedscope::write, drawn_profile("thread a\n  A.a()V 1 10\nthread b\n  A.b()V 1 50\nthread c\n  A.c()V 1 0\n"));
  EXPECT_NE(text.find("\"activeProfileIndex\":2,"), std::string::npos) << text;
  EXPECT_EQ(text.find("c: bytecodes"), std::string::npos) << "nothing of it";
}

TEST(Speedscope, NestsFramesOnTheAxisOfTheMetric) {
  const std::string text =
      written(speedscope::write, drawn_profile("thread main\n  A.a()V 1 10\n    A.b(I)V 2 5 @3\n"));
  EXPECT_NE(text.find(R"("name":"main: bytecodes","unit":"none","startValue":0,"endValue":15,"events":[)"
                      R"({"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":10},)"
                      R"({"type":"C","frame":1,"at":15},{"type":"C","frame":0,"at":15}])"),
            std::string::npos)
      << text;
}

TEST(Jfr, HasAtMostSoManySamples) {
  // A sample is an event of type 100 with five numbers: its size and type are two bytes.
  const auto samples = [](const Profile& profile) {
    const std::string bytes = written(jfr::write, profile);
    std::size_t count = 0;
    for (std::size_t at = 68; at < bytes.size() && bytes[at] != 0;) {
      const auto size = static_cast<std::uint8_t>(bytes[at]);
      if (size >= 0x80) break;  // metadata
      count += bytes[at + 1] == 100 ? 1 : 0;
      at += size;
    }
    return count;
  };
  const char* const small = "thread main\n  A.a()V 1 30\n    A.b()V 1 12 @3\n";
  EXPECT_EQ(samples(drawn_profile(small)), 42U);
  EXPECT_EQ(samples(sampled_profile(small)), 42U) << "not as many as nanoseconds";
  EXPECT_EQ(samples(drawn_profile("thread main\n  A.a()V 1 300000000\n    A.b()V 1 100000000 @3\n")), jfr::kMaxSamples);
}

}  // namespace
}  // namespace sonde::format
