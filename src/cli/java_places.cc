// SPDX-License-Identifier: Apache-2.0
#include "cli/java_places.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

namespace sonde::cli {

namespace fs = std::filesystem;

Result<fs::path> find_executable(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) == 0) return fs::path(name);
    return Error{ErrorCode::kNotFound, std::strerror(errno), {.path = name, .byte_offset = {}}};
  }
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return Error{ErrorCode::kNotFound, "is not in the PATH", {.path = name, .byte_offset = {}}};
}

Result<fs::path> java_home_of(const fs::path& java) {
  std::error_code error;
  const fs::path real = fs::canonical(java, error);
  if (error || real.filename() != "java") {
    return Error{ErrorCode::kInvalidArgument,
                 "`" + java.string() + "` is not a java launcher; put `java` right after `--`"};
  }
  const fs::path home = real.parent_path().parent_path();
  std::ifstream release(home / "release");
  for (std::string line; std::getline(release, line);) {
    if (!line.starts_with("JAVA_VERSION=\"")) continue;
    const int version = std::atoi(line.c_str() + std::strlen("JAVA_VERSION=\""));
    if (version < 17) {
      return Error{ErrorCode::kUnsupported,
                   "is version " + line.substr(14, line.size() - 15) + "; Sonde needs JDK 17 or later",
                   {.path = home.string(), .byte_offset = {}}};
    }
  }
  return home;
}

Result<fs::path> find_agent() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate : {here / "libsonde.so", here / ".." / "lib" / "sonde" / "libsonde.so"}) {
    if (fs::exists(candidate, error)) return fs::canonical(candidate, error);
  }
  return Error{ErrorCode::kNotFound,
               "libsonde.so is not next to the sonde program; install both together",
               {.path = here.string(), .byte_offset = {}}};
}

Result<fs::path> find_beside_agent(const std::string& name) {
  const fs::path file = TRY(find_agent()).parent_path() / name;
  std::error_code error;
  if (fs::exists(file, error)) return file;
  return Error{
      ErrorCode::kNotFound, "is missing; install it next to libsonde.so", {.path = file.string(), .byte_offset = {}}};
}

}  // namespace sonde::cli
