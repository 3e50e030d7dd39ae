// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "format/collapsed/writer.h"
#include "format/json_text.h"
#include "format/jsonl/writer.h"
#include "format/test_format.h"

namespace sonde::format {
namespace {

using profile::drawn_profile;
using profile::Metric;

constexpr const char* kDrawing = R"(
thread worker
  App.run()V 1 1
thread main
  p/App.main([Ljava/lang/String;)V 1 20
    p/App.run(I)V 2 14 @12
      p/App.get()I 4 12 @30
    p/App.run()V 7 1 @12
    p/App.run(I)V 3 6 @13
      p/App.get()I 1 3 @30
    p/App.idle()V 0 0 @14
      p/App.get()I 1 3 @31
    java/lang/Thread.sleep0(J)V 5 0 @15 native
thread main
  p/App.main([Ljava/lang/String;)V 1 2
)";

std::string jsonl_of(const profile::Profile& profile) { return written(jsonl::write, profile); }

TEST(Jsonl, HasOneUniqueLinePerContext) {
  EXPECT_EQ(jsonl_of(drawn_profile(kDrawing)),
            R"({"thread":"main","stack":["p/App.main([Ljava/lang/String;)V"],"calls":2,"bytecodes":22}
{"thread":"main","stack":["p/App.main([Ljava/lang/String;)V","java/lang/Thread.sleep0(J)V"],"calls":5,"bytecodes":0}
{"thread":"main","stack":["p/App.main([Ljava/lang/String;)V","p/App.idle()V","p/App.get()I"],"calls":1,"bytecodes":3}
{"thread":"main","stack":["p/App.main([Ljava/lang/String;)V","p/App.run()V"],"calls":7,"bytecodes":1}
{"thread":"main","stack":["p/App.main([Ljava/lang/String;)V","p/App.run(I)V"],"calls":5,"bytecodes":20}
{"thread":"main","stack":["p/App.main([Ljava/lang/String;)V","p/App.run(I)V","p/App.get()I"],"calls":5,"bytecodes":15}
{"thread":"worker","stack":["App.run()V"],"calls":1,"bytecodes":1}
)");
}

TEST(Jsonl, OfASampledRecordingHasSamplesInsteadOfCalls) {
  arena::TestArena arena("thread main\n  App.main()V 0 3\n    App.get()I 0 4 @12\n");
  arena.make_sampled({7000});
  EXPECT_EQ(jsonl_of(profile::ingest(arena::Reader::over(arena.bytes()).value()).value()),
            R"({"thread":"main","stack":["App.main()V"],"bytecodes":3000,"samples":3}
{"thread":"main","stack":["App.main()V","App.get()I"],"bytecodes":4000,"samples":4}
)");
}

TEST(Jsonl, EscapesNames) {
  EXPECT_EQ(jsonl_of(drawn_profile("thread \"a\\b\"\n  A.a()V 1 1\n")),
            "{\"thread\":\"\\\"a\\\\\\\\b\\\"\",\"stack\":[\"A.a()V\"],\"calls\":1,\"bytecodes\":1}\n");
  EXPECT_EQ(json_string("\x01\x1f\"é"), "\"\\u0001\\u001f\\\"é\"");
}

TEST(Collapsed, HasTheChosenMetricAndNoDescriptors) {
  EXPECT_EQ(written(with_metric(collapsed::write, Metric::kCalls), drawn_profile(kDrawing)), R"(main;p.App.main 2
main;p.App.main;java.lang.Thread.sleep0 5
main;p.App.main;p.App.idle;p.App.get 1
main;p.App.main;p.App.run 12
main;p.App.main;p.App.run;p.App.get 5
worker;App.run 1
)");
  const profile::Profile odd = drawn_profile("thread a;b c\n  A.a()V 1 5\n");
  EXPECT_EQ(written(with_metric(collapsed::write, Metric::kBytecodes), odd), "a_b c;A.a 5\n");
}

TEST(Formats, StopIfNothingMoreCanBeWritten) {
  int pieces = 0;
  const auto full_disk = [&](std::string_view) { return ++pieces < 3; };
  EXPECT_FALSE(jsonl::write(drawn_profile(kDrawing), full_disk));
  EXPECT_EQ(pieces, 3);
  pieces = 0;
  EXPECT_FALSE(collapsed::write(drawn_profile(kDrawing), Metric::kCalls, full_disk));
  EXPECT_EQ(pieces, 3);
}

}  // namespace
}  // namespace sonde::format
