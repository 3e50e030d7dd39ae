// SPDX-License-Identifier: Apache-2.0
#include "cli/live_recording.h"

#include <cstddef>
#include <fstream>

#include "arena/writer.h"
#include "cli/drawn_recordings.h"

namespace sonde::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RunningJvm, KnowsTheArenaThatItWrites) {
  const auto arena_of = [](const std::string& line) {
    RunningJvm jvm;
    add_mapping(jvm, line);
    return jvm.arenas.empty() ? "" : jvm.arenas.front();
  };
  EXPECT_EQ(arena_of("7f5c-7f5d rw-s 00000000 08:01 77   /tmp/my app.sonde.live/arena"),
            "/tmp/my app.sonde.live/arena");
  EXPECT_EQ(arena_of("7f5c-7f5d rw-s 00004000 08:01 77   /tmp/x.sonde.live/arena"), "");  // kept for late threads
  EXPECT_EQ(arena_of("7f5c-7f5d rw-s 00000000 08:01 77   /tmp/x.sonde.live/arena (deleted)"), "");
  EXPECT_EQ(arena_of("7f5c-7f5d r--p 00000000 08:01 77   /tmp/x.sonde.live/arena"), "");
  EXPECT_EQ(arena_of("7f5c-7f5d rw-s 00000000 08:01 77   /tmp/large_arena"), "");
  EXPECT_EQ(arena_of("7f5c-7f5d rw-p 00000000 00:00 0"), "");
}

class LiveRecordingOf : public DrawnRecordings {
 protected:
  LiveRecordingOf() : DrawnRecordings("test/golden/report") {}

  // A JVM that writes an arena with these flags.
  RunningJvm jvm_with(std::uint32_t flags, arena::State state) {
    const arena::Writer::Options options{.capacity = 1 << 20, .address_bias = 0, .flags = flags};
    const std::filesystem::path file = folder_ / ("x" + std::to_string(++recordings_) + ".live") / "arena";
    std::filesystem::create_directory(file.parent_path());
    arena::Writer writer;
    EXPECT_TRUE(writer.create(file.c_str(), options).ok());
    writer.header().start_ns = 5;
    writer.header().sampling.cpu_interval_ns = 1'000'000;
    writer.header().state.store(static_cast<std::uint32_t>(state));
    return {.pid = 4711, .arenas = {file.string()}};
  }

  int recordings_ = 0;
};

TEST_F(LiveRecordingOf, TellsWhatTheArenaSays) {
  const auto launched = live_recording_of(jvm_with(0, arena::State::kRunning));
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->folder, folder_ / "x1.live");
  EXPECT_FALSE(launched->is_attached);
  EXPECT_EQ(launched->start_ns, 5);
  EXPECT_THAT(launched->modes, ElementsAre("exact", "cpu"));
  const auto attached = live_recording_of(jvm_with(arena::kAttached | arena::kTimeOnly, arena::State::kRunning));
  ASSERT_TRUE(attached);
  EXPECT_TRUE(attached->is_attached);
  EXPECT_THAT(attached->modes, ElementsAre("cpu"));
}

TEST_F(LiveRecordingOf, IsNothingWithoutARecordingThatGoesOn) {
  EXPECT_FALSE(live_recording_of({}));
  EXPECT_FALSE(live_recording_of({.pid = 4711, .arenas = {(folder_ / "missing/arena").string()}}));
  EXPECT_FALSE(live_recording_of(jvm_with(0, arena::State::kEnded)));
}

TEST_F(LiveRecordingOf, MayBeThatOfAnotherSonde) {
  const RunningJvm jvm = jvm_with(0, arena::State::kRunning);
  const std::uint32_t version = arena::kVersion + 1;
  std::fstream file(jvm.arenas.front(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offsetof(arena::ArenaHeader, version));
  file.write(reinterpret_cast<const char*>(&version), sizeof version);
  file.close();
  const auto recording = live_recording_of(jvm);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->folder, folder_ / "x1.live");
  EXPECT_THAT(recording->modes, ElementsAre("unknown"));
}

TEST_F(LiveRecordingOf, IsTheOneThatTakesOrders) {
  RunningJvm jvm;
  for (const std::uint32_t flags : {0U, static_cast<std::uint32_t>(arena::kAttached), 0U})
    jvm.arenas.push_back(jvm_with(flags, arena::State::kRunning).arenas.front());
  EXPECT_EQ(live_recording_of(jvm)->folder, folder_ / "x2.live");
}

TEST_F(LiveRecordingOf, TakesOrdersIfItWasAttachedTo) {
  EXPECT_TRUE(check_takes_orders({}).ok());
  EXPECT_TRUE(check_takes_orders(jvm_with(arena::kAttached, arena::State::kRunning)).ok());
  const auto refused = check_takes_orders(jvm_with(0, arena::State::kRunning));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("process 4711 is recorded by `sonde run`"));
}

}  // namespace
}  // namespace sonde::cli
