// SPDX-License-Identifier: Apache-2.0
#include "cli/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mapped_file.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClassesPrefix = "classes-";
constexpr std::size_t kClassFilesKept = 6;  // one for each JDK and Sonde in use; a few megabytes each

// Made if it is missing, and this user's alone.
bool is_own_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  mkdir(folder.c_str(), 0700);
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool write_file(const fs::path& path, Bytes bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  ::close(file);
  return bytes.empty();
}

// JDKs and versions of Sonde come and go.
void remove_old_classes(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(kClassesPrefix))
      files.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  }
  std::ranges::sort(files, std::ranges::greater());
  for (std::size_t i = kClassFilesKept; i < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace

fs::path cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != 0) return fs::path(xdg) / "sonde";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) return fs::path(home) / ".cache" / "sonde";
  return {};
}

std::string state_of_file(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const auto size = fs::file_size(real, error);
  const auto time = fs::last_write_time(real, error).time_since_epoch().count();
  return real.string() + ":" + std::to_string(size) + ":" + std::to_string(time);
}

void write_to_cache(const fs::path& path, Bytes bytes) {
  if (!is_own_folder(path.parent_path())) return;
  std::error_code error;
  const fs::path temporary = path.string() + "." + std::to_string(::getpid());
  if (write_file(temporary, bytes)) fs::rename(temporary, path, error);
  fs::remove(temporary, error);
}

fs::path class_cache_file(const fs::path& java_home, const fs::path& agent) {
  const fs::path folder = cache_folder();
  // The agent reads the path from a line of its own.
  if (folder.empty() || folder.string().find('\n') != std::string::npos) return {};
  const std::size_t key =
      std::hash<std::string>{}(state_of_file(java_home / "lib" / "modules") + ":" + state_of_file(agent));
  return fs::absolute(folder / (std::string(kClassesPrefix) + std::to_string(key)));
}

void keep_class_cache(const fs::path& made, const fs::path& path) {
  if (path.empty()) return;
  const auto file = MappedFile::open(made);
  if (!file.ok()) return;
  write_to_cache(path, file->bytes());
  remove_old_classes(path.parent_path());
}

}  // namespace sonde::cli
