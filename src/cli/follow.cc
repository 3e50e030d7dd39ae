// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include "cli/recording_file.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLiveEnding = ".sonde.live";

// The process number in NAME.PID.sonde.live.
std::optional<std::uint32_t> process_of(std::string_view file, const std::string& name) {
  if (!file.starts_with(name + ".") || !file.ends_with(kLiveEnding)) return std::nullopt;
  file.remove_prefix(name.size() + 1);
  if (file.size() <= kLiveEnding.size()) return std::nullopt;
  file.remove_suffix(kLiveEnding.size());
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), pid);
  return error == std::errc() && end == file.data() + file.size() ? std::optional(pid) : std::nullopt;
}

void finish_child(const fs::path& live, std::uint32_t pid, const Console& console) {
  std::error_code error;
  if (is_alive(pid)) {
    return console.say("process " + std::to_string(pid) + " is still running; its recording stays in " + live.string());
  }
  if (!fs::exists(live / "arena", error)) {
    fs::remove_all(live, error);
    return;
  }
  fs::path out = live;
  out.replace_extension();  // .live
  if (const auto finished = store::finish(live, out); !finished.ok()) {
    return console.fail(live.string(), finished.error(), "the folder is kept; `sonde report` reads it as it is");
  }
  fs::remove_all(live, error);
  console.say("wrote " + out.string() + " of process " + std::to_string(pid));
}

}  // namespace

Result<std::string> options_for_children(const fs::path& agent, const fs::path& live, const std::string& stack_option) {
  const std::string argument = "-agentpath:" + agent.string() + "=follow:" + fs::absolute(live).string();
  if (argument.find('"') != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 "--follow cannot pass on a path with a quotation mark; choose another -o"};
  }
  // The JVM splits it at blanks, but not inside quotation marks.
  return "\"" + argument + "\" -XX:-DontCompileHugeMethods " + stack_option;
}

fs::path name_for_children(const fs::path& out) {
  fs::path name = fs::absolute(out);
  if (name.extension() == ".sonde") name.replace_extension();
  return name;
}

void finish_children(const fs::path& out, const Console& console) {
  const fs::path name = name_for_children(out);
  std::vector<std::pair<std::uint32_t, fs::path>> children;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(name.parent_path(), error)) {
    const auto pid = process_of(entry.path().filename().string(), name.filename().string());
    if (pid) children.emplace_back(*pid, out.parent_path() / entry.path().filename());
  }
  std::ranges::sort(children);
  for (const auto& [pid, live] : children) finish_child(live, pid, console);
}

}  // namespace sonde::cli
