// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "cli/attach_command.h"
#include "cli/attached_recording.h"
#include "cli/hot_view.h"
#include "cli/live_recording.h"
#include "cli/terminal.h"
#include "cli/top_view.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutMs = 60'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

volatile std::sig_atomic_t g_interrupted = 0;
void on_interrupt(int) { g_interrupted = 1; }

// What is looked at, and who can be asked to change it.
struct Watched {
  fs::path folder;
  std::optional<AttachedRecording> own;         // begun here, to be ended here
  std::optional<control::LineChannel> foreign;  // of a recording that somebody else began

  [[nodiscard]] control::LineChannel* agent() { return own ? &own->agent() : foreign ? &*foreign : nullptr; }
};

Result<Watched> watch_process(const TopOptions& options, const Console& console) {
  const RunningJvm jvm = TRY(find_jvm(options.target));
  if (const auto present = live_recording_of(jvm)) {
    Watched watched{.folder = present->place, .own = {}, .foreign = {}};
    if (present->is_attached) watched.foreign.emplace(TRY(connect_to_agent(jvm)));
    return watched;
  }
  RunOptions recorded = options.recording;
  recorded.command = jvm.arguments;
  const fs::path out = options.recording.out.empty() ? "/tmp/sonde-top-" + std::to_string(getpid()) : recorded.out;
  AttachedRecording own = TRY(AttachedRecording::begin(jvm, recorded, out, console));
  Watched watched{.folder = own.folder(), .own = {}, .foreign = {}};
  watched.own.emplace(std::move(own));
  return watched;
}

Result<Watched> watch(const TopOptions& options, const Console& console) {
  std::error_code error;
  if (fs::is_directory(options.target, error)) return Watched{.folder = options.target, .own = {}, .foreign = {}};
  return watch_process(options, console);
}

struct ModesOn {
  std::vector<std::string> names;
  [[nodiscard]] bool has(const std::string& name) const { return std::ranges::find(names, name) != names.end(); }
  [[nodiscard]] std::string text() const {
    std::string joined;
    for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
    return joined.empty() ? "none" : joined;
  }
};

// nullopt: the JVM or its recording is gone.
std::optional<ModesOn> modes_on(Watched& watched, const profile::Recording& recording) {
  if (watched.agent() == nullptr) return ModesOn{.names = {recording.mode}};
  const auto answer = control::ask(*watched.agent(), "status\n", kTimeoutMs);
  if (!answer.ok()) return std::nullopt;
  ModesOn modes;
  for (const control::ControlLine& line : *answer) {
    if (line.verb == "mode" && !line.words.empty()) modes.names.push_back(line.words[0]);
  }
  return modes;
}

// Starts the mode, or stops it. What to tell the user.
std::string toggle(Watched& watched, const ModesOn& on, const std::string& mode) {
  if (watched.agent() == nullptr) return "modes of `sonde run` stay as they were chosen";
  const auto modes = parse_modes(mode);
  const bool is_on = on.has(mode);
  const std::string line = is_on ? control::format_line("stop", {mode}) : start_lines(*modes).front();
  const auto done = control::ask(*watched.agent(), line, kTimeoutMs);
  return done.ok() ? mode + (is_on ? " stopped" : " started") : done.error().message;
}

class Top {
 public:
  Top(Watched watched, const Console& console, const TopOptions& options)
      : watched_(std::move(watched)),
        console_(console),
        frames_(options.frames),
        shown_(options.hot ? Shown::kHotCpu : Shown::kRates) {}

  // Until the user or the recording ends it.
  int run(bool on_terminal) {
    std::optional<Terminal> terminal;
    if (on_terminal) terminal.emplace();
    for (std::uint32_t frame = 0; g_interrupted == 0 && (frames_ == 0 || frame < frames_); ++frame) {
      if (!look()) break;
      show(on_terminal);
      const bool is_last = frames_ != 0 && frame + 1 == frames_;
      if (!is_last && !wait_a_second(on_terminal)) break;
    }
    return problem_ ? kFailed : kOk;
  }

  Watched& watched() { return watched_; }
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

 private:
  enum class Shown : std::uint8_t { kRates, kHotCpu, kHotWall };

  bool look() { return shown_ == Shown::kRates ? look_at_profile() : look_at_hot(); }

  // A folder that was there is gone when the recording is finished: its end, and no problem.
  bool give_up(const Error& error) {
    std::error_code ignored;
    if (!has_looked_ || fs::exists(watched_.folder / store::kArenaFile, ignored)) problem_ = error;
    return false;
  }

  // Whether the program still runs is told by the tables as well as by its agent.
  bool look_at_hot() {
    auto reader = arena::Reader::open(watched_.folder / store::kArenaFile);
    if (!reader.ok()) return give_up(reader.error());
    const bool goes_on = reader->summary().state != arena::State::kEnded || frames_ != 0;
    hot_ = std::move(*reader);
    has_looked_ = true;
    return goes_on;
  }

  bool look_at_profile() {
    auto profile = store::open(watched_.folder);
    if (!profile.ok()) return give_up(profile.error());
    auto modes = modes_on(watched_, profile->recording);
    if (!modes) return false;
    modes_ = std::move(*modes);
    view_.look(*profile, monotonic_ns());
    has_looked_ = true;
    // Of a recording without an agent to ask, the arena says that it is over.
    return watched_.agent() != nullptr || profile->recording.state != profile::State::kEnded || frames_ != 0;
  }

  [[nodiscard]] std::string screen(const Console& console, std::size_t height) const {
    if (shown_ == Shown::kRates || !hot_) return view_.screen(console, height, modes_.text(), notice_);
    const bool is_cpu = shown_ == Shown::kHotCpu;
    return hot_screen(*hot_, is_cpu ? arena::SampleTreeKind::kCpu : arena::SampleTreeKind::kWall, console, height);
  }

  void show(bool on_terminal) {
    Console console = console_;
    if (on_terminal) {
      const Terminal::Size size = Terminal::size();
      console.width = size.width;
      return Terminal::show(screen(console, size.height));
    }
    console_.data(screen(console, kPlainLines) + "\n");
    static_cast<void>(console_.flush());
  }

  // False: the user has seen enough.
  bool wait_a_second(bool on_terminal) {
    const std::uint64_t end = monotonic_ns() + kSecondNs;
    notice_.clear();
    for (std::uint64_t now = monotonic_ns(); now < end && g_interrupted == 0; now = monotonic_ns()) {
      const int rest_ms = static_cast<int>((end - now) / 1'000'000) + 1;
      if (!on_terminal) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min(rest_ms, 100)));
        continue;
      }
      const auto key = Terminal::wait_for_key(rest_ms);
      if (key && !press(*key)) return false;
      if (key) return true;  // it is shown at once
    }
    return g_interrupted == 0;
  }

  bool press(char key) {
    switch (key) {
      case 'q': return false;
      case 'm': view_.next_metric(); break;
      case 's': view_.next_sort(); break;
      case 'b': view_.next_grouping(); break;
      case 'h': shown_ = static_cast<Shown>((static_cast<std::size_t>(shown_) + 1) % 3); break;
      case 'c': notice_ = toggle(watched_, modes_, "cpu"); break;
      case 'w': notice_ = toggle(watched_, modes_, "wall"); break;
      case 'e': notice_ = toggle(watched_, modes_, "exact"); break;
      case 'f': notice_ = toggle(watched_, modes_, "exact:flat"); break;
      default: break;
    }
    return true;
  }

  static constexpr std::size_t kPlainLines = 30;

  Watched watched_;
  const Console& console_;
  const std::uint32_t frames_;
  Shown shown_;
  std::optional<arena::Reader> hot_;  // of the last look
  TopView view_;
  ModesOn modes_;
  std::string notice_;
  bool has_looked_ = false;
  std::optional<Error> problem_;
};

// What was recorded for this view alone is thrown away unless it was asked for.
int finish(AttachedRecording& own, const fs::path& out, const Console& console) {
  static_cast<void>(own.end());
  if (!out.empty()) {
    if (const auto finished = store::finish(own.folder(), out); !finished.ok()) {
      console.fail(out.string(), finished.error(), "the folder " + out.string() + ".live is kept");
      return kFailed;
    }
    console.say("wrote " + out.string());
  }
  own.remove_folder();
  return kOk;
}

}  // namespace

int top(const TopOptions& options, const Console& console) {
  if (const auto modes = parse_modes(options.recording.mode); !modes.ok()) {
    console.say(modes.error().message);
    return kUsage;
  }
  struct sigaction interrupt {};
  interrupt.sa_handler = on_interrupt;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &interrupt, nullptr);
  auto watched = watch(options, console);
  if (!watched.ok()) {
    console.fail("top", watched.error(), "`sonde ps` shows JVMs; the folder of a live recording will do as well");
    return kFailed;
  }
  const bool on_terminal = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  Top top(std::move(*watched), console, options);
  int code = top.run(on_terminal);
  if (top.problem()) console.fail("top", *top.problem(), "`sonde report` may say more");
  if (top.watched().own) code = std::max(code, finish(*top.watched().own, options.recording.out, console));
  return code;
}

}  // namespace sonde::cli
