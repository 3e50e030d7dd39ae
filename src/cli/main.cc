// SPDX-License-Identifier: Apache-2.0
// The `sonde` program: the tree of subcommands and their options (some in *_options.cc), nothing else. What a
// command does is in its own file.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "cli/calibrate.h"
#include "cli/classfile_command.h"
#include "cli/command_line.h"
#include "cli/recording_command.h"
#include "cli/run_command.h"
#include "cli/version.h"

namespace sonde::cli {
namespace {

constexpr const char* kPathHelp =
    "A .class file, a folder, a .jar, .zip or .jmod, or a JDK's lib/modules; several may be given";

void add_paths(CLI::App& app, std::vector<std::string>& paths) { app.add_option("PATH", paths, kPathHelp)->required(); }

void add_dump(CLI::App& parent, DumpOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("dump", "Print classes as text, much like javap -v -p");
  add_paths(*app, options.paths);
  app->add_flag("--no-pool", options.no_pool, "Leave out the constant pool");
  app->add_flag("--code-only", options.code_only, "Only methods with code: instructions and exception tables");
  app->add_option("--class", options.class_pattern, "Only classes whose name matches, e.g. 'java.util.*Map'")
      ->type_name("NAME-GLOB");
  app->footer(
      "Examples:\n"
      "  sonde classfile dump Hello.class\n"
      "  sonde classfile dump --code-only --class 'com.acme.*Service' app.jar\n"
      "  sonde classfile dump --no-pool --class java.lang.Object $JAVA_HOME/lib/modules | less");
  app->callback([&] { chosen = [&](const Console& console) { return classfile_dump(options, console); }; });
}

void add_check(CLI::App& parent, CheckOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("check", "Look for violations of the class file format");
  add_paths(*app, options.paths);
  app->add_flag("--json", options.json, "Print one JSON object");
  app->add_flag("-q,--quiet", options.quiet, "Print problems only, no summary");
  app->footer(
      "Each problem is a line with the class, the element in it and its byte offset. Exit code 1 if there is any.\n\n"
      "Examples:\n"
      "  sonde classfile check app.jar\n"
      "  sonde classfile check --quiet build/classes && echo fine\n"
      "  sonde classfile check --json $JAVA_HOME/lib/modules | jq .classes");
  app->callback([&] { chosen = [&](const Console& console) { return classfile_check(options, console); }; });
}

void add_roundtrip(CLI::App& parent, RoundtripOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("roundtrip", "Rewrite every method without a change and compare the bytes");
  add_paths(*app, options.paths);
  app->add_flag("--json", options.json, "Print one JSON object");
  app->footer(
      "Takes every class through what instrumentation does, with nothing to insert. A class that comes out different\n"
      "is a bug in Sonde, or a class that no compiler would write. Exit code 1 if there is any.\n\n"
      "Examples:\n"
      "  sonde classfile roundtrip app.jar\n"
      "  sonde classfile roundtrip $JAVA_HOME/lib/modules");
  app->callback([&] { chosen = [&](const Console& console) { return classfile_roundtrip(options, console); }; });
}

void add_run(CLI::App& parent, RunOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("run", "Start a JVM and record it; its exit code is ours");
  app->add_option(
         "--mode", options.mode,
         "What to record, one or more of: exact (every call and executed bytecode, with contexts),\n"
         "exact:flat (the same per method and thread, without contexts: much cheaper),\n"
         "bytecode[:granularity=10000,jitter=100,seed=1,maxpath=0] (a sample every so many bytecodes),\n"
         "subgraph:root=METHOD[,root=...] (times of a task and what it calls), region:METHOD (of one method),\n"
         "cpu[:1ms] (samples of CPU time), wall[:10ms] (samples of all threads),\n"
         "native (with cpu or wall: frames outside of Java, too)")
      ->capture_default_str();
  app->add_option("-o,--output", options.out, "The recording to write; default: named after the program")
      ->type_name("FILE");
  app->add_option("--include", options.include,
                  "Count only inside classes that match, e.g. 'com.acme.*'; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--exclude", options.exclude, "Do not count inside classes that match; may be repeated")
      ->allow_extra_args(false);
  app->add_flag("--no-jdk", options.no_jdk, "Do not count inside the JDK's own classes: cheaper");
  app->add_flag("--no-class-cache", options.no_class_cache,
                "Instrument all classes anew, and keep none of the JDK's for the next time");
  app->add_option("--blocks", options.blocks, "precise: exact under exceptions; default: whole blocks")
      ->capture_default_str();
  app->add_option("--scheme", options.scheme)->group("");  // for comparison only: docs/reference/command-line.md
  app->add_option(
         "--clock", options.clock,
         "What CPU samples go by; perf: perf events that send SIGPROF; trap: such that send SIGTRAP; timer: thread\n"
         "timers even if perf events may be used")
      ->capture_default_str();
  app->add_option("--walker", options.walker, "How samples find stacks; agct: by the JVM's AsyncGetCallTrace, slower")
      ->capture_default_str();
  app->add_option("--memory", options.memory, "How far the recording may grow while the program runs, e.g. 512M")
      ->capture_default_str();
  app->add_option("--max-depth", options.max_depth, "Keep paths of so many methods at most; deeper ones are summed up")
      ->check(CLI::Range(1U, 1'000'000U))
      ->type_name("N");
  app->add_flag("--fold-recursion", options.fold_recursion, "A method that is on the path already goes on there");
  app->add_option("--intrinsics", options.intrinsics,
                  "Methods that the JIT compiler replaces: calls (count their calls) or count (run and count their\n"
                  "bytecode instead: slower)")
      ->capture_default_str();
  app->add_flag("--follow", options.follow, "Record JVMs that the program starts, too: as NAME.PID.sonde");
  app->add_option("--weights", options.weights,
                  "With --mode bytecode: what each bytecode counts, so that samples stand for time (`sonde calibrate`)")
      ->type_name("FILE");
  app->add_option("--agent-class", options.agent_class,
                  "A profiling agent of your own, loaded after the JVM has booted; with --mode exact or bytecode")
      ->type_name("CLASS");
  app->add_option("--agent-path", options.agent_path, "The jar or folder that has it; several are separated by colons")
      ->type_name("JAR");
  app->add_option("--agent-limit", options.agent_limit, "An agent is switched off if one call of it takes longer")
      ->type_name("TIME")
      ->capture_default_str();
  app->add_option("COMMAND", options.command, "java and its arguments, after --")->required();
  app->footer(
      "Examples:\n"
      "  sonde run -- java -cp classes org.acme.Main\n"
      "  sonde run --mode cpu:1ms -- java -jar app.jar\n"
      "  sonde run --no-jdk -o main.sonde -- java -jar app.jar --port 8080\n"
      "  sonde report main.sonde");
  app->callback([&] { chosen = [&](const Console& console) { return run_program(options, console); }; });
}

void add_calibrate(CLI::App& parent, CalibrateOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("calibrate", "Measure what bytecodes cost here, for `sonde run --weights`");
  app->add_option("-o,--output", options.out, "The file to write; default: stdout")->type_name("FILE");
  app->add_option("--jdk", options.jdk, "The JDK to measure; default: the one of the java in the PATH")
      ->type_name("HOME");
  app->add_option("OPTIONS", options.jvm_options, "Options for its JVM, after --");
  app->footer(
      "Runs small loops, fits a weight for each group of bytecodes to their times, and tells how far off the weights "
      "are.\n\n"
      "Examples:\n"
      "  sonde calibrate -o here.weights\n"
      "  sonde calibrate --jdk /usr/lib/jvm/jdk-17 -o interpreted.weights -- -Xint\n"
      "  sonde run --mode bytecode --weights here.weights -- java -jar app.jar");
  app->callback([&] { chosen = [&](const Console& console) { return calibrate(options, console); }; });
}

const std::map<std::string, profile::Grouping> kGroupings = {
    {"method", profile::Grouping::kMethod},   {"class", profile::Grouping::kClass},
    {"package", profile::Grouping::kPackage}, {"thread", profile::Grouping::kThread},
    {"line", profile::Grouping::kLine},       {"callsite", profile::Grouping::kCallsite},
    {"state", profile::Grouping::kState}};
const std::map<std::string, SortBy> kSorts = {{"self", SortBy::kSelf}, {"total", SortBy::kTotal}};

void add_report(CLI::App& parent, ReportOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("report", "Show what a recording holds: hot methods, or the call tree");
  app->add_option("FILE", options.file, kRecordingHelp)->required();
  app->add_option("--top", options.top, "How many rows; 0 for all (default 20, with --tree all)")->type_name("N");
  app->add_flag("--tree", options.tree, "Print the call tree instead of a table");
  add_choice(*app, "--by", options.by, kGroupings, "What a row stands for (default method)");
  add_choice(*app, "--metric", options.metric, metric_words(),
             "What to sort and show percentages of (default: times or samples if there are any, else bytecodes)");
  add_choice(*app, "--sort", options.sort, kSorts, "Own values, or those with everything called (default self)");
  app->add_option("--focus", options.focus, "Who calls the methods that match, and whom they call, instead of a table")
      ->type_name("PATTERN");
  add_filters(*app, options.include, options.exclude);
  app->add_option("--thread", options.thread, "Only threads whose name matches, e.g. 'worker-*'")->type_name("GLOB");
  app->add_option("--min-percent", options.min_percent, "Leave out what is below (default 0, with --tree 1)")
      ->type_name("P");
  app->add_flag("--json", options.json, "Print one JSON object");
  app->footer(std::string(kPatternHelp) +
              " A line or call site stands for the\n"
              "calls made from it. Colours and width follow the terminal; NO_COLOR=1 and COLUMNS=N in the environment "
              "overrule it.\n\n"
              "Examples:\n"
              "  sonde report app.sonde\n"
              "  sonde report app.sonde --by package --sort total\n"
              "  sonde report app.sonde --tree --exclude 'java.*' --min-percent 2\n"
              "  sonde report app.sonde --focus HashMap.resize\n"
              "  sonde report app.sonde --metric calls --thread main --top 0 --json | jq .rows");
  app->callback([&] { chosen = [&](const Console& console) { return report(options, console); }; });
}

void add_status(CLI::App& parent, StatusOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("status", "Tell what a recording is, what it cost and what it lost");
  app->add_option("FILE", options.file, std::string(kRecordingHelp) + ", or the number of a process")->required();
  app->add_flag("--json", options.json, "Print one JSON object");
  app->footer(
      "Examples:\n"
      "  sonde status app.sonde\n"
      "  sonde status app.sonde.live --json | jq .state\n"
      "  sonde status 4711");
  app->callback([&] { chosen = [&](const Console& console) { return status(options, console); }; });
}

// Colours and lines cut to the width are for terminals; a pipe or file gets everything, plain. https://no-color.org
Console standard_console() {
  Console console{.out = stdout, .err = stderr, .err_is_terminal = ::isatty(STDERR_FILENO) != 0};
  if (::isatty(STDOUT_FILENO) == 0) return console;
  const char* columns = std::getenv("COLUMNS");
  if (columns != nullptr) console.width = std::strtoul(columns, nullptr, 10);
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  console.has_colours =
      (no_colour == nullptr || *no_colour == '\0') && (terminal == nullptr || std::string_view(terminal) != "dumb");
  struct winsize size = {};
  if (console.width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) console.width = size.ws_col;
  return console;
}

// Help and version go to stdout; everything else is a complaint.
int end_of_parsing(CLI::App& app, const CLI::ParseError& error, const Console& console) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::string command = "sonde";
  const CLI::App* deepest = &app;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = deepest->get_subcommands()) {
    deepest = chosen.front();
    command += " " + deepest->get_name();
  }
  // CLI11 says "A subcommand is required" also where one was misspelt.
  const std::vector<std::string> unknown = app.remaining(true);
  console.say(unknown.empty() ? error.what()
                              : "`" + unknown.front() + "` is no command or option of `" + command + "`");
  console.say("`" + command + " --help` shows what there is, with examples");
  return kUsage;
}

int run(int argc, char** argv, const Console& console) {
  DumpOptions dump;
  CheckOptions check;
  RoundtripOptions roundtrip;
  RunOptions run_options;
  ReportOptions report;
  ExchangeOptions exchange;
  StatusOptions status;
  CalibrateOptions calibrate_options;
  CompareOptions compare;
  ProcessOptions process;
  Command chosen;

  CLI::App app("Sonde, a profiler for the JVM", "sonde");
  app.set_version_flag("--version", std::string("sonde ") + kVersion, "Print the version and exit");
  app.require_subcommand(1);
  app.footer("`sonde COMMAND --help` explains a command and shows examples.");
  add_run(app, run_options, chosen);
  add_process_commands(app, process, chosen);
  add_report(app, report, chosen);
  add_compare_commands(app, compare, chosen);
  add_exchange_commands(app, exchange, chosen);
  add_status(app, status, chosen);
  add_calibrate(app, calibrate_options, chosen);
  CLI::App* classfile = app.add_subcommand("classfile", "Look into class files, check them, rewrite them");
  classfile->require_subcommand(1);
  classfile->footer("`sonde classfile COMMAND --help` explains a command and shows examples.");
  add_dump(*classfile, dump, chosen);
  add_check(*classfile, check, chosen);
  add_roundtrip(*classfile, roundtrip, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of_parsing(app, error, console);
  }
  return chosen(console);
}

}  // namespace
}  // namespace sonde::cli

int main(int argc, char** argv) {
  sonde::cli::Console console = sonde::cli::standard_console();
  sonde::cli::Activity activity(console.err_is_terminal ? stderr : nullptr);
  console.activity = &activity;
  try {
    return sonde::cli::run(argc, argv, console);
  } catch (const std::exception& error) {  // third-party code and the standard library may throw
    console.say(std::string("stopped: ") + error.what());
    return sonde::cli::kFailed;
  }
}
