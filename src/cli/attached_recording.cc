// SPDX-License-Identifier: Apache-2.0
#include "cli/attached_recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "cli/attach_client.h"
#include "cli/java_places.h"
#include "cli/jdk_methods.h"
#include "cli/live_recording.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using control::Descriptor;

constexpr int kTimeoutMs = 60'000;  // thousands of classes on a busy machine
constexpr const char* kNoWarning = "-XX:+EnableDynamicAgentLoading";
constexpr int kFirstWithWarning = 21;

Error failed(const std::string& message, const fs::path& path) {
  return {ErrorCode::kIo, message + ": " + std::strerror(errno), {.path = path.string(), .byte_offset = {}}};
}

void give_to(const RunningJvm& jvm, const fs::path& path) {
  if (geteuid() != jvm.user && lchown(path.c_str(), jvm.user, static_cast<gid_t>(-1)) != 0) errno = 0;
}

// A name that changes with the content, so that an agent of another version is another file.
std::string name_of_copy(const fs::path& agent) {
  struct stat status {};
  stat(agent.c_str(), &status);
  return "libsonde-" + std::to_string(status.st_size) + "-" + std::to_string(status.st_mtim.tv_sec) + ".so";
}

// Where the JVM finds the agent: what it has loaded, our own if it sees our files, else a copy in its /tmp.
Result<std::string> agent_for(const RunningJvm& jvm) {
  if (!jvm.agent.empty()) return jvm.agent;
  const fs::path agent = TRY(find_agent());
  if (jvm.root.empty() && jvm.user == geteuid()) return agent.string();
  const Descriptor folder = TRY(control::make_socket_folder(jvm.tmp(), jvm.user));
  const std::string name = name_of_copy(agent);
  const fs::path copy = control::path_in(folder, name);
  std::error_code error;
  if (!fs::exists(copy, error)) {
    const fs::path unfinished = copy.string() + "." + std::to_string(getpid());
    if (!fs::copy_file(agent, unfinished, error))
      return Error{ErrorCode::kIo, "cannot be copied to where the JVM finds it: " + error.message(), {agent.string()}};
    give_to(jvm, unfinished);
    fs::rename(unfinished, copy, error);
  }
  return control::socket_folder("/tmp", jvm.user) + "/" + name;
}

void announce_warning(const RunningJvm& jvm, const std::string& agent, const Console& console) {
  const bool is_silenced = std::ranges::find(jvm.arguments, kNoWarning) != jvm.arguments.end();
  if (!jvm.agent.empty() || is_silenced || jvm.major_version() < kFirstWithWarning) return;
  console.say("the JVM will print on its stderr `WARNING: A JVM TI agent has been loaded dynamically`, as JDK " +
              std::to_string(kFirstWithWarning) + " and later do");
  console.say(std::string("it does not if it is started with ") + kNoWarning + ", or with -agentpath:" + agent +
              ", which costs nothing until somebody attaches");
}

Result<void> write_file(const Descriptor& folder, const char* name, std::string_view content, const RunningJvm& jvm) {
  const fs::path path = control::path_in(folder, name);
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) return failed("cannot be written", name);
  give_to(jvm, path);
  return {};
}

// Next to the recording to be, or in a place of the JVM's own if that is not its file system or not its user's.
Result<fs::path> make_folder(const RunningJvm& jvm, const fs::path& out) {
  const bool is_shared = jvm.root.empty() && jvm.user == geteuid();
  fs::path place = fs::absolute(out.string() + ".live");
  if (!is_shared) {
    TRY(control::make_socket_folder(jvm.tmp(), jvm.user));
    place = control::socket_folder(jvm.tmp(), jvm.user) + "/" + out.filename().string() + "-" +
            std::to_string(getpid()) + ".live";
  }
  if (mkdir(place.c_str(), 0700) != 0) {
    if (errno == EEXIST)
      return Error{ErrorCode::kInvalidArgument,
                   "exists already; look at it with `sonde report`, then remove it or choose another -o",
                   {.path = place.string(), .byte_offset = {}}};
    return failed("cannot be created", place);
  }
  give_to(jvm, place);
  return place;
}

Result<void> fill_folder(const Descriptor& folder, const RunningJvm& jvm, const RunOptions& options,
                         const Modes& modes) {
  TRY(write_file(folder, "options", options_for_agent(options, modes), jvm));
  const std::vector<std::uint8_t> known = TRY(methods_counted_by_callers(jvm.java_home(), false));
  return write_file(folder, "known", {reinterpret_cast<const char*>(known.data()), known.size()}, jvm);
}

std::string without_root(const RunningJvm& jvm, const fs::path& place) {
  return place.string().substr(jvm.root.size());
}

}  // namespace

void forget_dead_agents(const std::string& tmp, uid_t user) {
  const auto folder = control::open_private_folder(control::socket_folder(tmp, user), user);
  if (folder.ok()) control::remove_dead_sockets(*folder);
}

Result<control::LineChannel> connect_to_agent(const RunningJvm& jvm) {
  const Descriptor folder = TRY(control::open_private_folder(control::socket_folder(jvm.tmp(), jvm.user), jvm.user));
  Descriptor connection = TRY(control::connect_in(folder, std::to_string(jvm.inner_pid), jvm.user));
  control::LineChannel agent(connection.release());
  TRY(control::ask(agent, control::format_line("hello", {"1"}), kTimeoutMs));
  return agent;
}

Result<control::LineChannel> bring_agent(const RunningJvm& jvm, const Console& console) {
  if (auto present = connect_to_agent(jvm); present.ok()) return present;
  forget_dead_agents(jvm.tmp(), jvm.user);
  const std::string agent = TRY(agent_for(jvm));
  announce_warning(jvm, agent, console);
  TRY(load_agent(jvm, agent, ""));
  return connect_to_agent(jvm);
}

std::vector<std::string> mode_names(const Modes& modes) {
  std::vector<std::string> names;
  if (modes.cpu_interval_ns != 0) names.emplace_back("cpu");
  if (modes.wall_interval_ns != 0) names.emplace_back("wall");
  if (modes.exact) names.emplace_back(modes.flat ? "exact:flat" : "exact");
  if (modes.bytecode) names.emplace_back("bytecode");
  if (modes.subgraph) names.push_back(modes.subgraph->name());
  return names;
}

std::vector<std::string> start_lines(const Modes& modes, std::uint64_t duration_ns) {
  std::vector<std::string> lines;
  for (const std::string& name : mode_names(modes)) {
    std::vector<std::string> words = {name};
    if (name == "cpu") words.push_back("cpu=" + std::to_string(modes.cpu_interval_ns));
    if (name == "wall") words.push_back("wall=" + std::to_string(modes.wall_interval_ns));
    if (modes.native && (name == "cpu" || name == "wall")) words.emplace_back("native=1");
    if (name == "bytecode") {
      const BytecodeMode& mode = *modes.bytecode;
      words.push_back("granularity=" + std::to_string(mode.granularity));
      words.push_back("jitter=" + std::to_string(mode.jitter));
      words.push_back("seed=" + std::to_string(mode.seed));
      words.push_back("maxpath=" + std::to_string(mode.max_path));
      words.push_back("context=" + (mode.context == "auto" ? "jvm" : mode.context));
    }
    if (modes.subgraph && name == modes.subgraph->name()) {
      for (const auto& [key, value] : settings_for_agent(*modes.subgraph, bare_time(duration_ns)))
        words.push_back(key + "=" + value);
    }
    lines.push_back(control::format_line("start", words));
  }
  return lines;
}

Result<AttachedRecording> AttachedRecording::begin(const RunningJvm& jvm, const RunOptions& options,
                                                   const fs::path& out, const Console& console,
                                                   std::uint64_t duration_ns) {
  const Modes modes = TRY(parse_modes(options.mode));
  control::LineChannel agent = TRY(bring_agent(jvm, console));
  fs::path place = TRY(make_folder(jvm, out));
  Descriptor folder = TRY(control::open_private_folder(place.string(), jvm.user));
  AttachedRecording recording(std::move(agent), std::move(folder), std::move(place));
  const auto started = [&]() -> Result<void> {
    TRY(fill_folder(recording.folder_, jvm, options, modes));
    TRY(control::ask(recording.agent_, control::format_line("record", {without_root(jvm, recording.place_)}),
                     kTimeoutMs));
    for (const std::string& line : start_lines(modes, duration_ns))
      TRY(control::ask(recording.agent_, line, kTimeoutMs));
    return {};
  }();
  if (started.ok()) return recording;
  static_cast<void>(recording.end());
  recording.remove_folder();
  Error error = started.error();
  // Modes of one kind cannot be in two recordings, and nobody can have `sonde run` stop its own.
  if (const auto present = live_recording_of(jvm); present && !present->is_attached)
    error.message += "; `sonde run` records it already, in " + present->folder;
  return error;
}

bool AttachedRecording::renew() { return control::ask(agent_, "renew\n", kTimeoutMs).ok(); }

Result<void> AttachedRecording::end() {
  TRY(control::ask(agent_, "end\n", kTimeoutMs));
  return {};
}

void AttachedRecording::remove_folder() {
  for (const char* name : {"arena", "options", "known"}) unlinkat(folder_.value(), name, 0);
  rmdir(place_.c_str());
}

}  // namespace sonde::cli
