// SPDX-License-Identifier: Apache-2.0
#include "cli/live_recording.h"

#include "arena/reader.h"
#include "profile/ingest.h"

namespace sonde::cli {

namespace fs = std::filesystem;

namespace {

std::optional<LiveRecording> recording_in(const RunningJvm& jvm, const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  LiveRecording recording{.folder = folder, .place = jvm.root + folder};
  const auto arena = arena::Reader::open(jvm.root + file);
  if (!arena.ok() && arena.error().code == ErrorCode::kUnsupported) {
    // That of another Sonde: there is a recording, and its agent may tell more.
    recording.is_attached = true;
    recording.modes = {"unknown"};
    return recording;
  }
  if (!arena.ok() || arena->summary().state == arena::State::kEnded) return std::nullopt;
  recording.is_attached = (arena->summary().flags & arena::kAttached) != 0;
  recording.start_ns = arena->summary().start_ns;
  recording.modes = profile::modes_of(arena->summary());
  return recording;
}

}  // namespace

std::optional<LiveRecording> live_recording_of(const RunningJvm& jvm) {
  std::optional<LiveRecording> found;
  for (const std::string& file : jvm.arenas) {
    auto recording = recording_in(jvm, file);
    if (recording && (!found || recording->is_attached)) found = std::move(recording);
  }
  return found;
}

Result<void> check_takes_orders(const RunningJvm& jvm) {
  const auto recording = live_recording_of(jvm);
  if (!recording || recording->is_attached) return {};
  return Error{ErrorCode::kUnsupported,
               "process " + std::to_string(jvm.pid) + " is recorded by `sonde run`, in " + recording->folder +
                   ": its modes stay as they were chosen, and the recording ends with the program"};
}

}  // namespace sonde::cli
