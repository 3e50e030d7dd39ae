// SPDX-License-Identifier: Apache-2.0
// What was written can be read again and then written to the same bytes; what is damaged is an error with a place.
#include <gtest/gtest.h>

#include <functional>

#include "format/collapsed/reader.h"
#include "format/collapsed/writer.h"
#include "format/gunzip.h"
#include "format/gzip_sink.h"
#include "format/jfr/reader.h"
#include "format/jfr/writer.h"
#include "format/pprof/protobuf.h"
#include "format/pprof/reader.h"
#include "format/pprof/writer.h"
#include "format/test_format.h"

namespace sonde::format {
namespace {

using profile::drawn_profile;
using profile::Metric;
using profile::Profile;
using profile::text_of;

constexpr const char* kDrawing = R"(
thread worker
  App.run()V 1 1
thread main
  p/App.main([Ljava/lang/String;)V 1 20
    java/lang/Thread.sleep0(J)V 5 0 @15 native
    p/App.run(I)V 2 14 @12
      p/App.get()I 4 12 @30
      p/App.<init>()V 4 12 @31
    p/App.run(I)V 3 6 @13
      p/App.run(I)V 1 3 @30
  overflow 10 99
)";

Result<Profile> read_pprof(std::string_view compressed, const pprof::ReadOptions& options = {}) {
  const std::vector<std::uint8_t> bytes = TRY(gunzip(as_bytes(compressed)));
  return pprof::read(bytes, options);
}

std::string lines_of(std::string_view text, const collapsed::ReadOptions& options = {}) {
  const Result<Profile> profile = collapsed::read(as_bytes(text), options);
  if (!profile.ok()) return profile.error().to_string();
  return written(with_metric(collapsed::write, options.metric), *profile);
}

TEST(CollapsedReader, ReadsWhatTheWriterWrote) {
  for (const Metric metric : {Metric::kCalls, Metric::kBytecodes}) {
    const std::string text = written(with_metric(collapsed::write, metric), drawn_profile(kDrawing));
    EXPECT_EQ(lines_of(text, {.metric = metric}), text);
  }
}

TEST(CollapsedReader, TakesFilesOfOtherTools) {
  EXPECT_EQ(lines_of("# comment\n[main tid=1];java/lang/Thread.run_[j];libc.so.6`read 3\r\n\n[main tid=1];a 1\n"),
            "[main tid=1];a 1\n[main tid=1];java.lang.Thread.run;libc.so.6`read 3\n");
  EXPECT_EQ(lines_of("a;b 2\na;b 3\n", {.has_threads = false}), "all;a;b 5\n");
  EXPECT_EQ(lines_of("thread only 7\n"), "");  // a thread without frames has no context
}

TEST(CollapsedReader, NamesTheLineThatIsWrong) {
  EXPECT_EQ(lines_of("a;b 1\na;b\n"), "line 2: expected frames, a space and a number");
  EXPECT_EQ(lines_of("a;b x\n"), "line 1: `x` is not a number of 64 bits");
  EXPECT_EQ(lines_of("a;b 99999999999999999999\n"), "line 1: `99999999999999999999` is not a number of 64 bits");
  EXPECT_EQ(lines_of("a;b -1\n"), "line 1: `-1` is not a number of 64 bits");
  EXPECT_EQ(lines_of("a;b 18446744073709551615\na;b 1\n"), "line 2: the values of a stack add up to more than 64 bits");
}

TEST(PprofReader, ReadsWhatTheWriterWrote) {
  Profile original = drawn_profile(kDrawing);
  original.recording.command = "java Main";
  original.recording.jdk = "17";
  original.recording.start_ns = 1'000'000'007;
  original.recording.end_ns = 3'000'000'000;
  original.counters.push_back(profile::counter_value(1, 3));
  const std::string bytes = written(pprof::write, original);
  const Result<Profile> profile = read_pprof(bytes);
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_EQ(written(pprof::write, *profile), bytes);
  EXPECT_EQ(profile->recording.command, "java Main");
  EXPECT_EQ(profile->counters.size(), 1U);
  EXPECT_NE(text_of(*profile).find("      p/App.get()I 4 12 @30\n"), std::string::npos) << text_of(*profile);
}

// sample_type cpu, one location with two lines (the first inlined into the second), one without.
std::string foreign_pprof(const std::vector<std::uint64_t>& values) {
  pprof::Message profile;
  const auto part = [&](std::uint32_t field, std::initializer_list<std::pair<std::uint32_t, std::uint64_t>> numbers) {
    pprof::Message message;
    for (const auto& [number, value] : numbers) message.number(number, value);
    profile.message(field, message);
  };
  part(1, {{1, 1}, {2, 2}});
  part(5, {{1, 1}, {2, 3}});
  part(5, {{1, 2}, {2, 4}});
  pprof::Message location;
  location.number(1, 1);
  for (const std::uint64_t function : {1, 2}) {
    pprof::Message line;
    line.number(1, function);
    line.number(2, 10 * function);
    location.message(4, line);
  }
  profile.message(4, location);
  part(4, {{1, 2}, {3, 0xabc}});
  pprof::Message sample;
  sample.packed(1, std::vector<std::uint64_t>{1, 2});
  sample.packed(2, values);
  profile.message(2, sample);
  for (const char* text : {"", "cpu", "nanoseconds", "inner", "outer"}) profile.text(6, text);
  return std::string(profile.bytes());
}

TEST(PprofReader, TakesFilesOfOtherTools) {
  const std::string bytes = foreign_pprof({42});
  const Result<Profile> profile = pprof::read(as_bytes(bytes), {});
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_EQ(written(with_metric(collapsed::write, Metric::kCpuNs), *profile), "all;[0xabc];outer;inner 42\n");
  const Result<Profile> chosen = pprof::read(as_bytes(bytes), {.sample_type = "cpu"});
  EXPECT_EQ(written(with_metric(collapsed::write, Metric::kSamples), *chosen), "all;[0xabc];outer;inner 42\n");
  const Result<Profile> none = pprof::read(as_bytes(bytes), {.sample_type = "heap"});
  EXPECT_EQ(none.error().to_string(), "has no sample type `heap`");
}

TEST(PprofReader, NamesThePlaceOfWhatIsWrong) {
  const auto error = [](const std::string& bytes) { return pprof::read(as_bytes(bytes), {}).error().to_string(); };
  EXPECT_EQ(error(foreign_pprof({1, 2})), "profile, sample: 2 values instead of 1 (byte 43)");
  EXPECT_EQ(error(foreign_pprof({~0ULL})),
            "profile, sample: a value is negative: differences cannot be imported (byte 43)");
  EXPECT_EQ(error("\x12\x7f"), "profile: a field is longer than what is left (byte 2)");
  // Ten gigabytes, declared in six bytes.
  EXPECT_EQ(error("\x12\xff\xff\xff\xff\x27"), "profile: a field is longer than what is left (byte 6)");
  EXPECT_EQ(error(""), "has no sample types: it is no profile of pprof");
}

TEST(JfrReader, ReadsWhatTheWriterWrote) {
  Profile original = drawn_profile(kDrawing);
  original.recording.command = "java Main";
  original.recording.start_ns = 1'700'000'000'000'000'000;
  original.recording.end_ns = 1'700'000'001'000'000'000;
  const std::string bytes = written(jfr::write, original);
  const Result<Profile> profile = jfr::read(as_bytes(bytes));
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_EQ(written(jfr::write, *profile), bytes);
  EXPECT_EQ(profile->recording.command, "java Main");
  EXPECT_NE(text_of(*profile).find("  [overflow] 10 99\n"), std::string::npos) << "which is no method";
  const Result<Profile> twice = jfr::read(as_bytes(bytes + bytes));  // chunks behind each other are one recording
  ASSERT_TRUE(twice.ok());
  EXPECT_NE(text_of(*twice).find("p/App.get()I 8 24 @30\n"), std::string::npos) << text_of(*twice);
}

TEST(JfrReader, NamesThePlaceOfWhatIsWrong) {
  std::string bytes = written(jfr::write, drawn_profile(kDrawing));
  const auto error = [](const std::string& text) { return jfr::read(as_bytes(text)).error().to_string(); };
  EXPECT_EQ(error(""), "chunk 1: the header is cut off (byte 0)");
  EXPECT_EQ(error(std::string(100, 'x')), "chunk 1: does not begin with FLR: no flight recording (byte 0)");
  EXPECT_EQ(error(bytes + "FLR"), "chunk 2: the header is cut off (byte " + std::to_string(bytes.size() + 3) + ")");
  EXPECT_NE(error(bytes.substr(0, 500)).find("bytes, 500 are there (byte 8)"), std::string::npos);
  bytes[8] = 2;  // a chunk of 2^57 bytes
  EXPECT_NE(error(bytes).find("declares 144115188075"), std::string::npos) << error(bytes);
}

TEST(Readers, KeepAllMetrics) {
  const Profile original = sampled_profile(kDrawing);
  const std::string compressed = written(pprof::write, original);
  const std::string recording = written(jfr::write, original);
  const Result<Profile> from_pprof = read_pprof(compressed);
  const Result<Profile> from_jfr = jfr::read(as_bytes(recording));
  ASSERT_TRUE(from_pprof.ok() && from_jfr.ok());
  for (const profile::MetricInfo& info : profile::kMetrics) {
    EXPECT_EQ(profile::sum_of(*from_pprof, info.metric), profile::sum_of(original, info.metric)) << info.name;
    EXPECT_EQ(profile::sum_of(*from_jfr, info.metric), profile::sum_of(original, info.metric)) << info.name;
  }
  EXPECT_EQ(written(pprof::write, *from_pprof), compressed);
  EXPECT_EQ(written(jfr::write, *from_jfr), recording);
}

// Every prefix, and every byte changed: an answer of either kind, and nothing else happens.
void survive_damage(const std::string& bytes, const std::function<bool(std::string_view)>& reads) {
  for (std::size_t size = 0; size < bytes.size(); ++size) reads(std::string_view(bytes).substr(0, size));
  std::string damaged = bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      damaged[i] = static_cast<char>(bytes[i] ^ change);
      reads(damaged);
    }
    damaged[i] = bytes[i];
  }
  EXPECT_TRUE(reads(bytes));
}

TEST(Readers, SurviveTruncationAndDamage) {
  const Profile profile = drawn_profile(kDrawing);
  survive_damage(written(jfr::write, profile), [](std::string_view b) { return jfr::read(as_bytes(b)).ok(); });
  const std::string compressed = written(pprof::write, profile);
  survive_damage(compressed, [](std::string_view b) { return read_pprof(b).ok(); });
  const auto raw = gunzip(as_bytes(compressed));
  survive_damage(std::string(as_text(*raw)), [](std::string_view b) { return pprof::read(as_bytes(b), {}).ok(); });
}

TEST(Gunzip, EndsAtItsLimit) {
  std::string bomb;
  GzipSink sink([&](std::string_view piece) {
    bomb += piece;
    return true;
  });
  const std::string zeros(1 << 20, '\0');
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(sink.write(zeros));
  EXPECT_TRUE(sink.finish());
  EXPECT_LT(bomb.size(), 100'000U);
  const auto error = gunzip(as_bytes(bomb), 10 << 20).error();
  EXPECT_EQ(error.code, ErrorCode::kTooLarge);
  EXPECT_NE(error.to_string().find("gzip: inflates to more than 10485760 bytes (byte "), std::string::npos);
  EXPECT_EQ(gunzip(as_bytes(bomb))->size(), std::size_t{64} << 20);
  EXPECT_EQ(gunzip(as_bytes(bomb.substr(0, bomb.size() / 2))).error().code, ErrorCode::kTruncated);
}

}  // namespace
}  // namespace sonde::format
