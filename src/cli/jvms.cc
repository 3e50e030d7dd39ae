// SPDX-License-Identifier: Apache-2.0
#include "cli/jvms.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "store/store.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

std::string proc(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

std::optional<pid_t> as_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc() && end == text.data() + text.size() && pid > 0 ? std::optional(pid) : std::nullopt;
}

std::vector<std::string> arguments_of(pid_t pid) {
  std::ifstream file(proc(pid, "cmdline"), std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string word; std::getline(file, word, '\0');) arguments.push_back(std::move(word));
  return arguments;
}

// The last number of "NSpid: 4711 17" is the one that the process itself knows.
pid_t inner_pid_of(pid_t pid) {
  std::ifstream file(proc(pid, "status"));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("NSpid:")) continue;
    return as_pid(line.substr(line.find_last_of(" \t") + 1)).value_or(pid);
  }
  return pid;
}

bool has_our_files(pid_t pid) {
  std::error_code error;
  const fs::path ours = fs::read_symlink("/proc/self/ns/mnt", error);
  const fs::path theirs = fs::read_symlink(proc(pid, "ns/mnt"), error);
  // The same namespace with another root is chroot.
  return !error && ours == theirs && fs::read_symlink(proc(pid, "root"), error) == "/" && !error;
}

void find_mapped_files(RunningJvm& jvm) {
  std::ifstream maps(proc(jvm.pid, "maps"));
  for (std::string line; std::getline(maps, line);) add_mapping(jvm, line);
  if (jvm.agent.empty()) jvm.arenas.clear();
}

std::string version_in(const fs::path& java_home) {
  constexpr std::string_view kKey = "JAVA_VERSION=\"";
  std::ifstream release(java_home / "release");
  for (std::string line; std::getline(release, line);) {
    if (line.starts_with(kKey) && line.ends_with('"')) return line.substr(kKey.size(), line.size() - kKey.size() - 1);
  }
  return "";
}

std::optional<RunningJvm> look_at(pid_t pid) {
  struct stat status {};
  if (stat(proc(pid, "").c_str(), &status) != 0) return std::nullopt;
  RunningJvm jvm;
  jvm.pid = pid;
  jvm.user = status.st_uid;
  find_mapped_files(jvm);
  if (jvm.library.empty()) return std::nullopt;
  jvm.inner_pid = inner_pid_of(pid);
  if (!has_our_files(pid)) jvm.root = proc(pid, "root");
  jvm.version = version_in(jvm.java_home());
  jvm.arguments = arguments_of(pid);
  jvm.main = main_of(jvm.arguments);
  return jvm;
}

Error not_found(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }

Result<RunningJvm> find_by_pid(pid_t pid) {
  struct stat status {};
  if (stat(proc(pid, "").c_str(), &status) != 0) return not_found("there is no process " + std::to_string(pid));
  if (status.st_uid != geteuid() && geteuid() != 0) {
    return Error{ErrorCode::kUnsupported,
                 "process " + std::to_string(pid) + " belongs to another user; only that user or root may attach"};
  }
  if (auto jvm = look_at(pid)) return std::move(*jvm);
  return not_found("process " + std::to_string(pid) + " is no JVM");
}

}  // namespace

int RunningJvm::major_version() const {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

// JDK/lib/server/libjvm.so
fs::path RunningJvm::java_home() const {
  return root + fs::path(library).parent_path().parent_path().parent_path().string();
}

std::string main_of(const std::vector<std::string>& arguments) {
  static constexpr std::string_view kWithValue[] = {
      "-cp",           "-classpath",     "--class-path",    "-p",
      "--module-path", "--add-modules",  "--add-exports",   "--add-opens",
      "--add-reads",   "--patch-module", "--limit-modules", "--upgrade-module-path"};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool is_named = word == "-jar" || word == "-m" || word == "--module";
    if (is_named) return i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (std::ranges::find(kWithValue, word) != std::end(kWithValue)) {
      ++i;
    } else if (!word.starts_with("-") && !word.starts_with("@")) {
      return word;
    }
  }
  return "";
}

// "7f.. rw-s 00000000 08:01 1234   /tmp/x.sonde.live/arena"; what was removed ends in " (deleted)".
void add_mapping(RunningJvm& jvm, const std::string& line) {
  const std::size_t slash = line.find('/');
  if (slash == std::string::npos) return;
  const std::string path = line.substr(slash);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (jvm.library.empty() && name == "libjvm.so") jvm.library = path;
  if (name.starts_with("libsonde") && name.ends_with(".so")) jvm.agent = path;
  // Later pages may stay mapped when a recording is over; its header does not.
  if (name == store::kArenaFile && line.find("rw-s 00000000 ") < slash) jvm.arenas.push_back(path);
}

std::vector<RunningJvm> find_jvms() {
  std::vector<RunningJvm> jvms;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = as_pid(entry.path().filename().string());
    if (!pid) continue;
    if (auto jvm = look_at(*pid)) jvms.push_back(std::move(*jvm));
  }
  std::ranges::sort(jvms, {}, &RunningJvm::pid);
  return jvms;
}

Result<RunningJvm> find_jvm(const std::string& pid_or_name) {
  if (const auto pid = as_pid(pid_or_name)) return find_by_pid(*pid);
  std::vector<RunningJvm> found = find_jvms();
  std::erase_if(found, [&](const RunningJvm& jvm) { return jvm.main.find(pid_or_name) == std::string::npos; });
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) return not_found("no JVM runs a main class or jar with `" + pid_or_name + "` in its name");
  std::string pids;
  for (const RunningJvm& jvm : found) pids += (pids.empty() ? "" : ", ") + std::to_string(jvm.pid);
  return Error{ErrorCode::kInvalidArgument, "several JVMs run `" + pid_or_name + "`: " + pids + "; choose one"};
}

}  // namespace sonde::cli
