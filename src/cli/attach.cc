// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/attach_command.h"
#include "cli/attached_recording.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::milliseconds kRenewal{1000};

volatile std::sig_atomic_t g_interrupted = 0;
void on_interrupt(int) { g_interrupted = 1; }

// "org.acme.Main" and "lib/app.jar" as "Main" and "app".
std::string short_name(const std::string& main) {
  if (main.empty()) return "java";
  if (main.ends_with(".jar")) return fs::path(main).stem().string();
  return main.substr(main.find_last_of("./") + 1);
}

fs::path output_of(const AttachOptions& options, const RunningJvm& jvm) {
  if (!options.recording.out.empty()) return options.recording.out;
  return short_name(jvm.main) + "-" + std::to_string(jvm.pid) + ".sonde";
}

// Until the user, the clock or the JVM ends it.
void wait_for_end(AttachedRecording& recording, std::uint64_t duration_ns) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point renewed = begin;
  while (g_interrupted == 0 && (duration_ns == 0 || Clock::now() - begin < std::chrono::nanoseconds(duration_ns))) {
    std::this_thread::sleep_for(kLook);
    if (Clock::now() - renewed < kRenewal) continue;
    renewed = Clock::now();
    if (!recording.renew()) return;
  }
}

int finish(AttachedRecording& recording, const fs::path& out, const Console& console) {
  const auto ended = recording.end();
  if (!ended.ok()) console.say("the JVM has ended or does not answer; what was recorded until then is kept");
  if (const auto finished = store::finish(recording.folder(), out); !finished.ok()) {
    console.fail(out.string(), finished.error(),
                 "the folder " + out.string() + ".live is kept; `sonde report` reads it");
    return kFailed;
  }
  recording.remove_folder();
  console.say("wrote " + out.string() + "; `sonde report " + out.string() + "` shows it");
  return kOk;
}

}  // namespace

int attach(const AttachOptions& options, const Console& console) {
  const std::uint64_t duration_ns = options.duration.empty() ? 0 : parse_duration_ns(options.duration);
  const auto modes = parse_modes(options.recording.mode);
  if (!modes.ok() || (!options.duration.empty() && duration_ns == 0)) {
    console.say(modes.ok() ? "--duration takes a time such as 30s or 500ms" : modes.error().message);
    return kUsage;
  }
  const auto fail = [&](const Error& error) {
    console.fail("attach", error, "`sonde ps` shows JVMs; the program was left alone");
    return kFailed;
  };
  const auto jvm = find_jvm(options.process);
  if (!jvm.ok()) return fail(jvm.error());
  struct sigaction interrupt {};
  interrupt.sa_handler = on_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &interrupt, nullptr);
  const fs::path out = output_of(options, *jvm);
  RunOptions recorded = options.recording;
  recorded.command = jvm->arguments;
  auto recording = AttachedRecording::begin(*jvm, recorded, out, console, duration_ns);
  if (!recording.ok()) return fail(recording.error());
  console.say("recording process " + std::to_string(jvm->pid) + " (" + jvm->main + ") by mode " +
              options.recording.mode +
              (duration_ns == 0 ? "; Ctrl-C ends the recording, not the program" : " for " + options.duration));
  const std::string notice = modes->subgraph ? bare_notice(*modes->subgraph, bare_time(duration_ns)) : "";
  if (!notice.empty()) console.say(notice);
  wait_for_end(*recording, duration_ns);
  return finish(*recording, out, console);
}

}  // namespace sonde::cli
