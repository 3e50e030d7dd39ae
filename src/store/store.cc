// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <cstring>
#include <system_error>

#include "arena/reader.h"
#include "profile/ingest.h"
#include "store/read.h"

namespace sonde::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLiveSuffix = ".live";

Error not_found(const fs::path& path) {
  std::error_code ignored;
  const fs::path live = path.string() + kLiveSuffix;
  std::string message = "does not exist";
  if (fs::is_directory(live, ignored)) message += ", but the live folder " + live.string() + " does: give that instead";
  return {ErrorCode::kNotFound, std::move(message), {.path = path.string(), .byte_offset = {}}};
}

Result<profile::Profile> read_arena(const fs::path& arena_file) {
  const arena::Reader reader = TRY(arena::Reader::open(arena_file));
  return profile::ingest(reader);
}

Result<bool> is_arena(const fs::path& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const Bytes bytes = file.bytes();
  return bytes.size() >= sizeof arena::kMagic && std::memcmp(bytes.data(), arena::kMagic, sizeof arena::kMagic) == 0;
}

}  // namespace

Result<profile::Profile> open(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return not_found(path);
  if (fs::is_directory(status)) {
    const fs::path arena_file = path / kArenaFile;
    if (!fs::exists(arena_file, error)) {
      return Error{ErrorCode::kInvalidArgument,
                   "is a folder without a file `arena`, so no recording",
                   {.path = path.string(), .byte_offset = {}}};
    }
    return read_arena(arena_file);
  }
  if (TRY(is_arena(path))) return read_arena(path);
  Result<profile::Profile> profile = read_file(path);
  if (!profile.ok()) return std::move(profile).error().within(path.string());
  return profile;
}

Result<Finished> finish(const fs::path& live_folder, const fs::path& out_file) {
  const profile::Profile profile = TRY(open(live_folder));
  TRY(write(profile, out_file));
  std::error_code ignored;
  return Finished{.nodes = profile.tree.size(),
                  .file_bytes = fs::file_size(out_file, ignored),
                  .damage_count = profile.recording.damage_count,
                  .state = profile.recording.state};
}

Result<void> remove_live(const fs::path& live_folder) {
  std::error_code error;
  fs::remove(live_folder / kArenaFile, error);
  if (!error) fs::remove(live_folder, error);
  if (error && error != std::errc::directory_not_empty) {
    return Error{
        ErrorCode::kIo, "cannot remove it: " + error.message(), {.path = live_folder.string(), .byte_offset = {}}};
  }
  return {};
}

}  // namespace sonde::store
