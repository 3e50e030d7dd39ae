// SPDX-License-Identifier: Apache-2.0
#include "cli/intrinsics.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "archive/class_source.h"
#include "base/mapped_file.h"
#include "classfile/class_file.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using classfile::ClassFile;
using classfile::Member;

// HotSpot's table of names, one after the other, begins like this in every version so far; names begin with _. What is
// in front of it depends on the build.
constexpr std::string_view kFirstNames("_hashCode\0_getClass\0", 20);

// What the JVM relies on: barriers of references, switching virtual threads, method handles.
constexpr std::string_view kNeeded[] = {"_Reference_",  "_PhantomReference_", "_Continuation_",
                                        "_notifyJvmti", "_invokeGeneric",     "_compiledLambdaForm",
                                        "_jvm_commit",  "_Object_init",       "_blackhole"};

Result<std::vector<std::string>> intrinsics_of(const fs::path& java_home) {
  const fs::path library = java_home / "lib" / "server" / "libjvm.so";
  const MappedFile file = TRY(MappedFile::open(library));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<std::string> names = intrinsics_in(bytes);
  if (names.empty()) {
    return Error{ErrorCode::kUnsupported,
                 "its list of intrinsics was not found; leave out --intrinsics=count",
                 {.path = library.string(), .byte_offset = {}}};
  }
  return names;
}

// As HotSpot would name the intrinsics of native methods and of Unsafe, which our probes are made of.
Result<std::set<std::string>> names_to_keep(const fs::path& java_home) {
  std::set<std::string> keep;
  TRY(archive::for_each_class(
      java_home / "lib" / "modules",
      [&](const archive::Entry& entry) {
        if (!entry.path.starts_with("java.base/")) return true;
        const auto cls = ClassFile::parse(entry.bytes);
        if (!cls.ok()) return true;
        const bool is_unsafe = cls->name() == "jdk/internal/misc/Unsafe";
        for (const Member& method : cls->methods()) {
          if (!is_unsafe && !method.has(classfile::kAccNative)) continue;
          std::string name = "_" + std::string(method.name);
          keep.insert(name);
          if (name.ends_with('0')) keep.insert(name.substr(0, name.size() - 1));
        }
        return true;
      },
      [](const std::string&, const Error&) {}));
  return keep;
}

}  // namespace

std::vector<std::string> intrinsics_in(std::string_view library) {
  std::vector<std::string> names;
  for (std::size_t at = library.find(kFirstNames); at < library.size() && library[at] == '_';) {
    const std::size_t end = std::min(library.find('\0', at), library.size());
    names.emplace_back(library.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Result<std::vector<std::string>> options_without_intrinsics(const fs::path& java_home) {
  const std::vector<std::string> names = TRY(intrinsics_of(java_home));
  const std::set<std::string> keep = TRY(names_to_keep(java_home));
  std::string disabled;
  for (const std::string& name : names) {
    const auto is_start = [&](std::string_view start) { return name.starts_with(start); };
    if (keep.contains(name) || std::ranges::any_of(kNeeded, is_start)) continue;
    disabled += (disabled.empty() ? "" : ",") + name;
  }
  return std::vector<std::string>{"-XX:+UnlockDiagnosticVMOptions", "-XX:DisableIntrinsic=" + disabled,
                                  "-XX:-UseCRC32CIntrinsics"};  // the interpreter has code of its own for them
}

}  // namespace sonde::cli
