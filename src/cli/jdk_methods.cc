// SPDX-License-Identifier: Apache-2.0
#include "cli/jdk_methods.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "archive/class_source.h"
#include "classfile/class_file.h"
#include "instrument/known_methods.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using classfile::ClassFile;
using classfile::Member;
using instrument::KnownKind;
using instrument::KnownMethods;

constexpr int kCacheVersion = 2;

void add_methods(const ClassFile& cls, bool without_intrinsics, KnownMethods& known) {
  for (const Member& method : cls.methods()) {
    if (!instrument::is_bound(cls, method)) continue;
    const bool native = method.has(classfile::kAccNative);
    const bool intrinsic =
        without_intrinsics ? instrument::is_unavoidable_intrinsic(cls, method) : instrument::is_intrinsic(cls, method);
    if (!native && !intrinsic) continue;
    known.add({.class_name = cls.name(), .name = method.name, .descriptor = method.descriptor},
              native ? KnownKind::kNative : KnownKind::kIntrinsic);
  }
}

// "": no cache.
fs::path cache_file(const fs::path& modules, bool without_intrinsics) {
  fs::path folder;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != 0) {
    folder = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) {
    folder = fs::path(home) / ".cache";
  } else {
    return {};
  }
  std::error_code error;
  const auto size = fs::file_size(modules, error);
  const auto time = fs::last_write_time(modules, error).time_since_epoch().count();
  const std::size_t key = std::hash<std::string>{}(modules.string() + ":" + std::to_string(size) + ":" +
                                                   std::to_string(time) + (without_intrinsics ? ":natives" : ""));
  return folder / "sonde" / ("methods-" + std::to_string(kCacheVersion) + "-" + std::to_string(key));
}

// Written under another name first: several `sonde run` may start at once.
void write_cache(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path temporary = path.string() + "." + std::to_string(::getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
}

}  // namespace

Result<std::vector<std::uint8_t>> methods_counted_by_callers(const fs::path& java_home, bool without_intrinsics) {
  std::error_code error;
  const fs::path modules = fs::canonical(java_home / "lib" / "modules", error);
  if (error) {
    return Error{ErrorCode::kNotFound,
                 "is not there, so this is no JDK of version 9 or later",
                 {.path = (java_home / "lib" / "modules").string(), .byte_offset = {}}};
  }
  const fs::path cached = cache_file(modules, without_intrinsics);
  if (std::ifstream file(cached, std::ios::binary); file) {
    std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
    if (!bytes.empty() && KnownMethods::parse(bytes).ok()) return bytes;
  }
  KnownMethods known;
  TRY(archive::for_each_class(
      modules,
      [&](const archive::Entry& entry) {
        if (!entry.path.starts_with("java.base/")) return true;
        if (const auto cls = ClassFile::parse(entry.bytes); cls.ok()) add_methods(*cls, without_intrinsics, known);
        return true;
      },
      [](const std::string&, const Error&) {}));
  known.sort();
  std::vector<std::uint8_t> bytes = known.serialize();
  if (!cached.empty()) write_cache(cached, bytes);
  return bytes;
}

}  // namespace sonde::cli
