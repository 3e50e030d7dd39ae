// SPDX-License-Identifier: Apache-2.0
// `sonde ps`, `ctl`, `detach`, and `status` of a process: questions and orders to agents in running JVMs.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "cli/attach_command.h"
#include "cli/attached_recording.h"
#include "cli/live_recording.h"
#include "cli/status_report.h"
#include "cli/table.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

constexpr int kTimeoutMs = 60'000;

struct AgentStatus {
  bool is_there = false;
  std::vector<std::string> modes;  // that are on
  // How many, classes; total, 99th percentile and longest in ns, of batches and of pauses. Empty: none.
  std::vector<std::uint64_t> batches;
};

Result<AgentStatus> ask_status(control::LineChannel& agent) {
  AgentStatus status{.is_there = true};
  for (const control::ControlLine& line : TRY(control::ask(agent, "status\n", kTimeoutMs))) {
    if (line.verb == "mode" && !line.words.empty()) status.modes.push_back(line.words[0]);
    if (line.verb == "batches" && line.words.size() == 8) {
      for (const std::string& word : line.words) status.batches.push_back(std::strtoull(word.c_str(), nullptr, 10));
    }
  }
  return status;
}

struct ProcessStatus {
  AgentStatus agent;
  std::optional<LiveRecording> recording;

  [[nodiscard]] std::string folder() const { return recording ? recording->folder : ""; }
  [[nodiscard]] std::vector<std::string> modes() const {
    if (!recording) return {};
    return recording->is_attached && agent.is_there ? agent.modes : recording->modes;
  }
  [[nodiscard]] std::uint64_t recorded_ns() const {
    const std::uint64_t now = realtime_ns();
    return recording && recording->start_ns != 0 && now > recording->start_ns ? now - recording->start_ns : 0;
  }
};

ProcessStatus status_of(const RunningJvm& jvm) {
  ProcessStatus status{.agent = {}, .recording = live_recording_of(jvm)};
  auto agent = connect_to_agent(jvm);
  if (!agent.ok()) return status;
  if (auto answer = ask_status(*agent); answer.ok()) status.agent = std::move(answer).value();
  return status;
}

std::string modes_text(const ProcessStatus& status) {
  std::string text;
  for (const std::string& mode : status.modes()) text += (text.empty() ? "" : ",") + mode;
  return text.empty() ? "none" : text;
}

std::string recording_text(const ProcessStatus& status) {
  return status.recording ? modes_text(status) + " in " + status.folder() : "";
}

std::string agent_text(const ProcessStatus& status) {
  if (status.agent.is_there) return "listens";
  if (!status.recording || status.recording->is_attached) return "none";
  return "takes no orders: `sonde run` began the recording, which ends with the program";
}

std::string printed(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Nothing if it just ended.
std::optional<profile::Profile> profile_of(const ProcessStatus& status) {
  if (!status.recording) return std::nullopt;
  auto profile = store::open(status.recording->place);
  return profile.ok() ? std::optional(std::move(profile).value()) : std::nullopt;
}

nlohmann::ordered_json process_json(const RunningJvm& jvm, const ProcessStatus& status) {
  nlohmann::ordered_json json = {{"pid", jvm.pid},
                                 {"jdk", jvm.version},
                                 {"main", jvm.main},
                                 {"agent", status.agent.is_there},
                                 {"recording", status.folder()},
                                 {"recorded_ns", status.recorded_ns()},
                                 {"modes", status.modes()},
                                 {"batches", status.agent.batches}};
  if (const auto profile = profile_of(status)) {
    const nlohmann::ordered_json all = status_json(*profile);
    // The modes that are on say more than those that ever were.
    for (const auto& [key, value] : all.items()) {
      if (key != "mode" && !json.contains(key)) json[key] = value;
    }
  }
  return json;
}

std::string process_text(const RunningJvm& jvm, const ProcessStatus& status) {
  std::string text = fmt::format("Process   {} {}, JDK {}\n", jvm.pid, on_one_line(jvm.main), jvm.version);
  text += fmt::format("Agent     {}\n", agent_text(status));
  if (status.recording) {
    text += fmt::format("Recording {} for {}\nModes     {}\n", on_one_line(status.folder()),
                        seconds(std::chrono::nanoseconds(status.recorded_ns())), modes_text(status));
  }
  if (const std::vector<std::uint64_t>& batches = status.agent.batches; !batches.empty()) {
    const auto ms = [&](std::size_t i) { return static_cast<double>(batches[i]) / 1e6; };
    text += fmt::format("Batches   {} of {} classes in {:.0f} ms; 99 % below {:.1f} ms, the longest {:.1f} ms\n",
                        batches[0], grouped(batches[1]), ms(2), ms(3), ms(4));
    text +=
        fmt::format("Paused    {:.0f} ms for them; 99 % below {:.1f} ms, the longest {:.1f} ms\n", ms(5), ms(6), ms(7));
  }
  if (const auto profile = profile_of(status)) text += status_text(*profile);
  return text;
}

int fail(const char* command, const Error& error, const Console& console) {
  console.fail(command, error, "`sonde ps` shows JVMs");
  return kFailed;
}

// To start or stop modes. What a subgraph was need not be said again to stop it.
Result<std::vector<std::string>> lines_for_agent(const CtlOptions& options) {
  std::vector<std::string> lines;
  std::string text;
  for (const std::string& mode : options.modes) {
    if (options.action == "stop" && (mode == "subgraph" || mode == "region")) {
      lines.push_back(control::format_line("stop", {mode}));
    } else {
      text += (text.empty() ? "" : ",") + mode;
    }
  }
  if (options.modes.empty())
    return Error{ErrorCode::kInvalidArgument, "say which modes, e.g. `sonde ctl PID " + options.action + " cpu`"};
  if (text.empty()) return lines;
  const Modes modes = TRY(parse_modes(text));
  if (options.action == "start") return start_lines(modes);
  for (const std::string& name : mode_names(modes)) lines.push_back(control::format_line("stop", {name}));
  return lines;
}

}  // namespace

int ps(const PsOptions& options, const Console& console) {
  forget_dead_agents("/tmp", geteuid());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:>8}  {:<10}  {:<40}  {}\n", "PID", "JDK", "MAIN", "RECORDING");
  for (const RunningJvm& jvm : find_jvms()) {
    const ProcessStatus status = status_of(jvm);
    rows.push_back({{"pid", jvm.pid},
                    {"jdk", jvm.version},
                    {"main", jvm.main},
                    {"container", !jvm.root.empty()},
                    {"recording", status.folder()},
                    {"modes", status.modes()}});
    text += fmt::format("{:>8}  {:<10}  {:<40}  {}\n", jvm.pid, jvm.version, on_one_line(jvm.main),
                        on_one_line(recording_text(status)));
  }
  console.data(options.json ? printed(rows) : text);
  return console.flush() ? kOk : kFailed;
}

int status_of_process(const std::string& process, bool json, const Console& console) {
  const auto jvm = find_jvm(process);
  if (!jvm.ok()) return fail("status", jvm.error(), console);
  const ProcessStatus status = status_of(*jvm);
  console.data(json ? printed(process_json(*jvm, status)) : process_text(*jvm, status));
  return console.flush() ? kOk : kFailed;
}

int detach(const DetachOptions& options, const Console& console) {
  const auto jvm = find_jvm(options.process);
  if (!jvm.ok()) return fail("detach", jvm.error(), console);
  auto agent = connect_to_agent(*jvm);
  if (!agent.ok()) {
    if (const auto takes = check_takes_orders(*jvm); !takes.ok()) return fail("detach", takes.error(), console);
    console.say("no agent listens in process " + std::to_string(jvm->pid) + "; there is nothing to detach");
    return kOk;
  }
  if (const auto done = control::ask(*agent, "detach\n", kTimeoutMs); !done.ok())
    return fail("detach", done.error(), console);
  console.say("detached from process " + std::to_string(jvm->pid));
  return kOk;
}

int ctl(const CtlOptions& options, const Console& console) {
  if (options.action == "status") return status_of_process(options.process, false, console);
  const auto lines = lines_for_agent(options);
  if (!lines.ok()) {
    console.say(lines.error().message);
    return kUsage;
  }
  const auto jvm = find_jvm(options.process);
  if (!jvm.ok()) return fail("ctl", jvm.error(), console);
  if (const auto takes = check_takes_orders(*jvm); !takes.ok()) return fail("ctl", takes.error(), console);
  auto agent = connect_to_agent(*jvm);
  if (!agent.ok()) {
    console.say("no agent listens in process " + std::to_string(jvm->pid) + "; begin with `sonde attach " +
                std::to_string(jvm->pid) + "`");
    return kFailed;
  }
  for (const std::string& line : *lines) {
    if (const auto done = control::ask(*agent, line, kTimeoutMs); !done.ok()) return fail("ctl", done.error(), console);
  }
  return kOk;
}

}  // namespace sonde::cli
