// SPDX-License-Identifier: Apache-2.0
#include "cli/jdk_methods.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "archive/class_source.h"
#include "classfile/class_file.h"
#include "cli/cache_folder.h"
#include "instrument/known_methods.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using classfile::ClassFile;
using classfile::Member;
using instrument::KnownKind;
using instrument::KnownMethods;

constexpr int kCacheVersion = 3;

KnownKind kind_of(const ClassFile& cls, const Member& method) {
  if (!method.has(classfile::kAccNative)) return KnownKind::kIntrinsic;
  return instrument::may_initialise_classes(cls, method) ? KnownKind::kNative : KnownKind::kNativeIntrinsic;
}

void add_methods(const ClassFile& cls, bool without_intrinsics, KnownMethods& known) {
  for (const Member& method : cls.methods()) {
    if (!instrument::is_bound(cls, method)) continue;
    const bool intrinsic =
        without_intrinsics ? instrument::is_unavoidable_intrinsic(cls, method) : instrument::is_intrinsic(cls, method);
    if (!method.has(classfile::kAccNative) && !intrinsic) continue;
    known.add({.class_name = cls.name(), .name = method.name, .descriptor = method.descriptor}, kind_of(cls, method));
  }
}

// "": no cache.
fs::path cache_file(const fs::path& modules, bool without_intrinsics) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  const std::size_t key = std::hash<std::string>{}(state_of_file(modules) + (without_intrinsics ? ":natives" : ""));
  return folder / ("methods-" + std::to_string(kCacheVersion) + "-" + std::to_string(key));
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
  if (!cached.empty()) write_to_cache(cached, bytes);
  return bytes;
}

}  // namespace sonde::cli
