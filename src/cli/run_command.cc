// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "classfile/opcode_weights.h"
#include "cli/cache_folder.h"
#include "cli/follow.h"
#include "cli/intrinsics.h"
#include "cli/java_places.h"
#include "cli/jdk_methods.h"
#include "cli/modes.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotExecute = 127;
pid_t g_child = 0;  // for forward_signal, the only one who needs it

void forward_signal(int signal) {
  if (g_child > 0) kill(g_child, signal);
}

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// "org.acme.Main" or "app.jar" among the arguments, for the name of the recording.
std::string program_name(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-cp" || word == "-classpath" || word == "--class-path" || word == "-p" || word == "--module-path") {
      ++i;
    } else if (word == "-jar" && i + 1 < command.size()) {
      return fs::path(command[i + 1]).stem().string();
    } else if (!word.starts_with("-")) {
      const std::size_t last = word.find_last_of("./");
      return last == std::string::npos ? word : word.substr(last + 1);
    }
  }
  return "java";
}

// On one line; line breaks in arguments would end the option.
std::string printable_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    for (const char c : word) text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return text;
}

// What the agent must know to count; a JVM that is only sampled by time starts without.
Result<std::vector<std::uint8_t>> known_methods(const Modes& modes, const fs::path& java_home, bool count_intrinsics) {
  if (!modes.is_instrumented()) return std::vector<std::uint8_t>();
  return methods_counted_by_callers(java_home, count_intrinsics);
}

// "-Xss1m" as "-Xss6m". Probes make stack frames larger, most of all those of code that is compiled but not optimised
// yet; a program that recurses as deep as its stack allows must still be able to. HotSpot takes 1 GiB at most.
std::string larger_stack(const std::string& option) {
  constexpr std::uint64_t kFactor = 6;  // measured: docs/design/0004-exact-measurements.md
  constexpr std::uint64_t kLargest = 1ULL << 30;
  std::string size = option.substr(4);
  if (!size.empty()) size.back() = static_cast<char>(std::toupper(static_cast<unsigned char>(size.back())));
  const std::uint64_t bytes = parse_size(size);
  if (bytes == 0 || bytes > kLargest) return option;
  return "-Xss" + std::to_string(std::min(bytes * kFactor, kLargest) >> 10) + "k";
}

// What the child needs to find the user's agent wherever it goes.
Result<std::string> absolute_paths(const std::string& paths) {
  std::string absolute;
  for (std::size_t begin = 0; begin <= paths.size();) {
    const std::size_t end = std::min(paths.find(':', begin), paths.size());
    const fs::path path = paths.substr(begin, end - begin);
    begin = end + 1;
    if (path.empty()) continue;
    std::error_code error;
    if (!fs::exists(path, error))
      return Error{
          ErrorCode::kNotFound, "does not exist; --agent-path names it", {.path = path.string(), .byte_offset = {}}};
    absolute += (absolute.empty() ? "" : ":") + fs::absolute(path).string();
  }
  return absolute;
}

// The text of a file of weights, which makes sense.
Result<std::string> read_weights(const std::string& path) {
  constexpr std::size_t kLargest = 60'000;
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  Location where{.path = path, .byte_offset = {}};
  if (!file) return Error{ErrorCode::kIo, "cannot be read: " + std::string(std::strerror(errno)), where};
  if (text.size() > kLargest) return Error{ErrorCode::kTooLarge, "is too large for a file of weights", where};
  std::erase(text, '\r');
  std::ranges::replace(text, '\t', ' ');
  const auto weights = classfile::OpcodeWeights::parse(text);
  if (weights.ok()) return text;
  where.path += ", " + weights.error().where.path;
  return Error{weights.error().code, weights.error().message, where};
}

struct Places {
  fs::path java;
  fs::path java_home;
  fs::path agent;
  fs::path out;
  fs::path live;
  fs::path class_cache;  // "": none
};

Result<void> write_options(const RunOptions& options, const Modes& modes, const Places& places) {
  std::ofstream file(places.live / "options");
  file << options_for_agent(options, modes);
  if (!places.class_cache.empty()) file << "class-cache " << places.class_cache.string() << "\n";
  if (!options.weights.empty()) {
    std::ofstream(places.live / "weights", std::ios::binary) << TRY(read_weights(options.weights));
    file << "weights 1\n";
  }
  if (!options.agent_class.empty()) {
    file << "agent-class " << options.agent_class << "\nagent-path " << TRY(absolute_paths(options.agent_path))
         << "\nagent-api " << TRY(find_beside_agent("sonde-api.jar")).string() << "\nagent-limit "
         << parse_duration_ns(options.agent_limit) / 1'000'000 << "\n";
  }
  if (options.follow) {
    const std::string for_children = TRY(options_for_children(places.agent, places.live, larger_stack("-Xss1m")));
    file << "follow " << for_children << "\nown-name " << name_for_children(places.out).string() << "\njava-home "
         << places.java_home.string() << "\n";
  }
  if (file.flush()) return {};
  return Error{ErrorCode::kIo,
               "cannot be written: " + std::string(std::strerror(errno)),
               {.path = (places.live / "options").string(), .byte_offset = {}}};
}

Result<void> prepare_folder(const RunOptions& options, const Places& places) {
  const fs::path& live = places.live;
  const Modes modes = TRY(parse_modes(options.mode));
  std::error_code error;
  if (fs::exists(live, error)) {
    return Error{ErrorCode::kInvalidArgument,
                 "exists already; look at it with `sonde report`, then remove it or choose another -o",
                 {.path = live.string(), .byte_offset = {}}};
  }
  if (!fs::create_directory(live, error)) {
    return Error{ErrorCode::kIo,
                 "cannot be created: " + error.message() + "; choose another place with -o",
                 {.path = live.string(), .byte_offset = {}}};
  }
  fs::permissions(live, fs::perms::owner_all, error);
  TRY(write_options(options, modes, places));
  const std::vector<std::uint8_t> known = TRY(known_methods(modes, places.java_home, options.intrinsics == "count"));
  std::ofstream known_file(live / "known", std::ios::binary);
  known_file.write(reinterpret_cast<const char*>(known.data()), static_cast<std::streamsize>(known.size()));
  if (!known_file.flush()) {
    return Error{ErrorCode::kIo,
                 "cannot be written: " + std::string(std::strerror(errno)),
                 {.path = live.string(), .byte_offset = {}}};
  }
  return {};
}

// An option of the JVM as the child gets it.
std::string adapted(const std::string& option) {
  if (option.starts_with("-Xss")) return larger_stack(option);
  // Class data sharing is off as soon as an agent sees every class; a JVM that insists on it would not start.
  if (option == "-Xshare:on") return "-Xshare:auto";
  return option;
}

bool takes_an_argument(const std::string& option) {
  static constexpr std::string_view kOptions[] = {"-cp",
                                                  "-classpath",
                                                  "--class-path",
                                                  "-p",
                                                  "--module-path",
                                                  "--add-modules",
                                                  "--upgrade-module-path",
                                                  "--limit-modules",
                                                  "--add-exports",
                                                  "--add-opens",
                                                  "--add-reads",
                                                  "--patch-module",
                                                  "--source",
                                                  "--enable-native-access"};
  return std::ranges::find(kOptions, option) != std::end(kOptions);
}

// Whether the user chose the size of stacks in the environment, which the launcher puts in front of our options.
bool environment_sets_stack() {
  for (const char* name : {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && (std::strstr(value, "-Xss") != nullptr || std::strstr(value, "ThreadStackSize") != nullptr))
      return true;
  }
  return false;
}

Result<std::vector<std::string>> child_command(const RunOptions& options, const Places& places) {
  const Modes modes = TRY(parse_modes(options.mode));
  std::vector<std::string> command = {places.java.string(),
                                      "-agentpath:" + places.agent.string() + "=" + fs::absolute(places.live).string()};
  // Probes make methods longer; past 8000 bytes HotSpot would never compile them.
  if (modes.is_instrumented() || modes.subgraph) command.emplace_back("-XX:-DontCompileHugeMethods");
  if (modes.is_instrumented() && !environment_sets_stack()) command.push_back(larger_stack("-Xss1m"));
  if (modes.is_sampled()) {
    // Without it, compiled code knows its lines and inlined methods at calls only.
    command.insert(command.end(), {"-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"});
  }
  if (options.intrinsics == "count") {
    for (std::string& option : TRY(options_without_intrinsics(places.java_home))) command.push_back(std::move(option));
  }
  // Only the JVM's options are ours to change: they end with the main class, -jar or -m.
  std::size_t i = 1;
  for (; i < options.command.size(); ++i) {
    const std::string& word = options.command[i];
    if (!word.starts_with("-") || word == "-jar" || word == "-m" || word == "--module") break;
    command.push_back(modes.exact ? adapted(word) : word);
    if (takes_an_argument(word) && i + 1 < options.command.size()) command.push_back(options.command[++i]);
  }
  for (; i < options.command.size(); ++i) command.push_back(options.command[i]);
  return command;
}

// Runs it to its end. The terminal's Ctrl-C reaches the child by itself; what is sent to us alone is passed on.
int run_child(std::vector<std::string> command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  struct sigaction forward {};
  forward.sa_handler = forward_signal;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction old_interrupt {};
  struct sigaction old_quit {};
  sigaction(SIGINT, &ignore, &old_interrupt);
  sigaction(SIGQUIT, &ignore, &old_quit);
  g_child = fork();
  if (g_child == 0) {
    // As the child would have had them without us: a shell ignores them for background jobs.
    sigaction(SIGINT, &old_interrupt, nullptr);
    sigaction(SIGQUIT, &old_quit, nullptr);
    execv(argv[0], argv.data());
    _exit(kCannotExecute);
  }
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaction(signal, &forward, nullptr);
  int status = 0;
  while (waitpid(g_child, &status, 0) < 0 && errno == EINTR) {
  }
  g_child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<void> check_agent(const RunOptions& options, const Modes& modes) {
  if (options.agent_class.empty() != options.agent_path.empty())
    return invalid("--agent-class and --agent-path belong together: the class of a profiling agent, and its jar");
  if (options.agent_class.empty()) return {};
  if (modes.flat || !modes.is_instrumented() || options.scheme == "paper")
    return invalid("--agent-class needs --mode bytecode or --mode exact");
  if (parse_duration_ns(options.agent_limit) < 1'000'000)
    return invalid("--agent-limit takes a time such as 500ms or 10s");
  TRY(absolute_paths(options.agent_path));
  return {};
}

// Samples without calls in the probes need that nothing else does: the JDK, whose intrinsics are told from the rest; a
// user's agent, which is called; trees with limits; a sampler by time, which would find such a thread nowhere. And a
// JVM that looks after its signal handlers would speak of ours.
bool can_trap(const RunOptions& options, const Modes& modes) {
  const bool is_checked = std::ranges::find(options.command, "-Xcheck:jni") != options.command.end();
  return options.no_jdk && options.agent_class.empty() && options.max_depth == 0 && !options.fold_recursion &&
         modes.cpu_interval_ns == 0 && modes.wall_interval_ns == 0 && !is_checked;
}

Result<void> check_options(const RunOptions& options) {
  const Modes modes = TRY(parse_modes(options.mode));
  if (modes.flat && (options.max_depth != 0 || options.fold_recursion))
    return invalid("--max-depth and --fold-recursion are about contexts, which exact:flat does not have");
  if (options.intrinsics != "calls" && options.intrinsics != "count")
    return invalid("--intrinsics is `calls` or `count`");
  if (options.follow && options.intrinsics == "count")
    return invalid("--follow cannot switch intrinsics off in other JVMs; leave out --intrinsics=count");
  TRY(check_agent(options, modes));
  if (modes.bytecode && modes.bytecode->has_traps() && !can_trap(options, modes))
    return invalid(
        "samples by traps need --no-jdk and the mode alone: no cpu or wall, no --agent-class, --max-depth or "
        "--fold-recursion, no -Xcheck:jni");
  if (!options.weights.empty() && !modes.bytecode) return invalid("--weights is for --mode bytecode");
  if (!options.weights.empty()) TRY(read_weights(options.weights));
  if (options.clock != "auto" && options.clock != "perf" && options.clock != "trap" && options.clock != "timer")
    return invalid("--clock is `auto`, `perf`, `trap` or `timer`");
  if (options.walker != "auto" && options.walker != "agct") return invalid("--walker is `auto` or `agct`");
  if (options.blocks != "precise" && options.blocks != "default") return invalid("--blocks is `precise` or `default`");
  if (options.scheme != "sites" && options.scheme != "paper") return invalid("--scheme is `sites` or `paper`");
  if (options.scheme == "paper" && options.mode != "exact") return invalid("--scheme paper is for --mode exact only");
  if (parse_size(options.memory) < (1 << 20)) return invalid("--memory takes a size such as 512M or 8G, 1M at least");
  return {};
}

Result<Places> find_places(const RunOptions& options) {
  Places places;
  places.java = TRY(find_executable(options.command[0]));
  places.java_home = TRY(java_home_of(places.java));
  places.agent = TRY(find_agent());
  places.out =
      options.out.empty() ? program_name(options.command) + "-" + std::to_string(::getpid()) + ".sonde" : options.out;
  places.live = places.out.string() + ".live";
  if (!options.no_class_cache && TRY(parse_modes(options.mode)).exact)
    places.class_cache = class_cache_file(places.java_home, places.agent);
  return places;
}

void finish_recording(const Places& places, const Console& console) {
  const fs::path& live = places.live;
  std::error_code error;
  if (!fs::exists(live / "arena", error)) {
    fs::remove_all(live, error);
    return console.say("nothing was recorded");
  }
  console.doing("writing " + places.out.string(), 1, 1);
  if (const auto finished = store::finish(live, places.out); !finished.ok()) {
    return console.fail(live.string(), finished.error(), "the folder is kept; `sonde report` reads it as it is");
  }
  keep_class_cache(live / "classes", places.class_cache);
  fs::remove_all(live, error);
  console.say("wrote " + places.out.string() + "; `sonde report " + places.out.string() + "` shows it");
}

}  // namespace

std::string options_for_agent(const RunOptions& options, const Modes& modes) {
  std::ostringstream out;
  out << "command " << printable_command(options.command) << "\nexact "
      << (modes.flat                ? "flat"
          : modes.is_instrumented() ? "1"
                                    : "0")
      << "\ncpu " << modes.cpu_interval_ns << "\nwall " << modes.wall_interval_ns << "\nnative "
      << (modes.native ? 1 : 0) << "\nwalker " << options.walker << "\nclock " << options.clock << "\nscheme "
      << options.scheme << "\nprecise " << (options.blocks == "precise" ? 1 : 0) << "\njdk " << (options.no_jdk ? 0 : 1)
      << "\nmemory " << parse_size(options.memory) << "\nmax-depth " << options.max_depth << "\nfold-recursion "
      << (options.fold_recursion ? 1 : 0) << "\ncount-intrinsics " << (options.intrinsics == "count" ? 1 : 0) << "\n";
  if (modes.bytecode) {
    const BytecodeMode& mode = *modes.bytecode;
    out << "granularity " << mode.granularity << "\njitter " << mode.jitter << "\nseed " << mode.seed << "\nmaxpath "
        << mode.max_path << "\ncontext " << mode.context_source(can_trap(options, modes)) << "\n";
  }
  if (modes.subgraph) {
    for (const auto& [key, value] : settings_for_agent(*modes.subgraph, {})) out << key << " " << value << "\n";
  }
  for (const std::string& pattern : options.include) out << "include " << pattern << "\n";
  for (const std::string& pattern : options.exclude) out << "exclude " << pattern << "\n";
  return out.str();
}

std::uint64_t parse_size(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str() || errno != 0 || text[0] == '-') return 0;
  const std::string unit(end);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : unit == "T" ? 40 : -1;
  if (shift < 0 || number > (~0ULL >> shift)) return 0;
  return number << shift;
}

int run_program(const RunOptions& options, const Console& console) {
  if (const auto checked = check_options(options); !checked.ok()) {
    console.fail("run", checked.error(), "`sonde run --help` shows what there is");
    return kUsage;
  }
  const auto fail = [&](const Error& error) {
    console.fail("run", error, "the program was not started");
    return kFailed;
  };
  const auto places = find_places(options);
  if (!places.ok()) return fail(places.error());
  const auto command = child_command(options, *places);
  if (!command.ok()) return fail(command.error());
  if (const auto prepared = prepare_folder(options, *places); !prepared.ok()) return fail(prepared.error());

  const int code = run_child(*command);
  finish_recording(*places, console);
  if (options.follow) finish_children(places->out, console);
  return code;
}

}  // namespace sonde::cli
