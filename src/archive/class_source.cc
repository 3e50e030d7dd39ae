// SPDX-License-Identifier: Apache-2.0
#include "archive/class_source.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "archive/jimage.h"
#include "archive/zip.h"
#include "base/mapped_file.h"

namespace sonde::archive {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kClassMagic = 0xcafebabe;

enum class Wanted : std::uint8_t { kClasses, kEverything };

bool is_class_name(std::string_view path) { return path.ends_with(".class"); }

bool is_class_file(Bytes bytes) { return bytes.size() >= 4 && load_u4(bytes.data()) == kClassMagic; }

Error io_error(std::string message, const fs::path& path, const std::error_code& error) {
  const ErrorCode code = error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, std::move(message) + ": " + error.message(), {.path = path.string(), .byte_offset = {}}};
}

// Sorted, because the order of a directory differs between file systems.
Result<std::vector<fs::directory_entry>> list_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> children;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) children.push_back(*it);
  if (error) return io_error("cannot list the folder", folder, error);
  std::sort(children.begin(), children.end(), [](const fs::directory_entry& a, const fs::directory_entry& b) {
    return a.path().native() < b.path().native();
  });
  return children;
}

// One visit of one path. Functions that return bool say whether to go on.
class Visit {
 public:
  Visit(Wanted wanted, const EntryCallback& on_entry, const EntryErrorCallback& on_error)
      : wanted_(wanted), on_entry_(on_entry), on_error_(on_error) {}

  Result<void> path(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return file(path);
    const auto children = TRY(list_folder(path));
    folder(path, children);
    return {};
  }

 private:
  Result<void> file(const fs::path& path);
  void zip(const fs::path& path, const ZipArchive& archive);
  void jimage(const fs::path& path, const JImage& image);
  bool folder(const fs::path& root, const std::vector<fs::directory_entry>& children);
  bool file_in_folder(const fs::path& root, const fs::path& path);
  bool deliver(Entry entry, Result<Bytes> content);

  [[nodiscard]] bool wants(std::string_view path) const {
    return wanted_ == Wanted::kEverything || is_class_name(path);
  }

  Wanted wanted_;
  const EntryCallback& on_entry_;
  const EntryErrorCallback& on_error_;
  std::vector<std::uint8_t> scratch_;  // one buffer for all compressed entries
};

bool Visit::deliver(Entry entry, Result<Bytes> content) {
  if (!content.ok()) {
    on_error_(entry.name, content.error());
    return true;
  }
  entry.bytes = *content;
  return on_entry_(entry);
}

Result<void> Visit::file(const fs::path& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const Bytes bytes = file.bytes();
  const std::string file_name = path.filename().string();
  // A damaged class file is still one by its name: its parser explains the damage better than "unknown format".
  if (is_class_file(bytes) || is_class_name(file_name)) {
    deliver({.name = path.string(), .path = file_name, .bytes = {}}, bytes);
    return {};
  }
  if (JImage::recognises(bytes)) {
    Result<JImage> image = JImage::open(bytes);
    if (!image.ok()) return std::move(image).error().within(path.string());
    jimage(path, *image);
    return {};
  }
  // Zips are last: they can have anything in front, so only opening one tells.
  Result<ZipArchive> archive = ZipArchive::open(bytes);
  if (!archive.ok()) return std::move(archive).error().within(path.string());
  zip(path, *archive);
  return {};
}

void Visit::zip(const fs::path& path, const ZipArchive& archive) {
  const std::string prefix = path.string() + "!/";
  for (const ZipEntry& entry : archive.entries()) {
    if (!wants(entry.name)) continue;
    Entry visited = {.name = prefix + std::string(entry.name),
                     .path = entry.name,
                     .bytes = {},
                     .is_directory = entry.is_directory(),
                     .is_stored = entry.method == ZipEntry::kStored};
    if (!deliver(std::move(visited), archive.read(entry, scratch_))) return;
  }
}

void Visit::jimage(const fs::path& path, const JImage& image) {
  const std::string prefix = path.string() + "!";
  for (const JImageResource& resource : image.resources()) {
    if (wanted_ == Wanted::kClasses && resource.extension != "class") continue;
    const std::string resource_path = resource.path();
    Entry visited = {.name = prefix + resource_path, .path = std::string_view(resource_path).substr(1), .bytes = {}};
    if (!deliver(std::move(visited), image.read(resource, scratch_))) return;
  }
}

bool Visit::folder(const fs::path& root, const std::vector<fs::directory_entry>& children) {
  for (const fs::directory_entry& child : children) {
    std::error_code error;
    const bool is_link = child.is_symlink(error);
    if (child.is_directory(error)) {
      if (is_link) continue;
      const auto grandchildren = list_folder(child.path());
      if (!grandchildren.ok()) {
        on_error_(child.path().string(), grandchildren.error());
      } else if (!folder(root, *grandchildren)) {
        return false;
      }
    } else if (wants(child.path().native()) && !file_in_folder(root, child.path())) {
      return false;
    }
  }
  return true;
}

bool Visit::file_in_folder(const fs::path& root, const fs::path& path) {
  const std::string relative = path.lexically_relative(root).generic_string();
  Entry visited = {.name = path.string(), .path = relative, .bytes = {}};
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return deliver(std::move(visited), file.error());
  return deliver(std::move(visited), file->bytes());
}

}  // namespace

Result<void> for_each_class(const fs::path& path, const EntryCallback& on_class, const EntryErrorCallback& on_error) {
  return Visit(Wanted::kClasses, on_class, on_error).path(path);
}

Result<void> for_each_entry(const fs::path& path, const EntryCallback& on_entry, const EntryErrorCallback& on_error) {
  return Visit(Wanted::kEverything, on_entry, on_error).path(path);
}

}  // namespace sonde::archive
