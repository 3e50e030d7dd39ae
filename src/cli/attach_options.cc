// SPDX-License-Identifier: Apache-2.0
#include "cli/attach_command.h"
#include "cli/command_line.h"

namespace sonde::cli {
namespace {

constexpr const char* kProcessHelp = "The number of a process, or a part of its main class or jar (`sonde ps`)";

void add_ps(CLI::App& parent, PsOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("ps", "List JVMs: number, JDK, main class, and what is recorded in them");
  app->add_flag("--json", options.json, "Print a JSON array");
  app->footer("Examples:\n  sonde ps\n  sonde ps --json | jq '.[].pid'");
  app->callback([&] { chosen = [&](const Console& console) { return ps(options, console); }; });
}

void add_attach(CLI::App& parent, AttachOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("attach", "Record a JVM that runs, until Ctrl-C, its end or --duration");
  RunOptions& recording = options.recording;
  recording.mode = "cpu";
  app->add_option("PROCESS", options.process, kProcessHelp)->required();
  app->add_option("--mode", recording.mode, "What to record, as in `sonde run`")->capture_default_str();
  app->add_option("--duration", options.duration, "How long, e.g. 30s; default: until Ctrl-C")->type_name("TIME");
  app->add_option("-o,--output", recording.out, "The recording to write; default: named after the program")
      ->type_name("FILE");
  app->add_option("--include", recording.include, "Count only inside classes that match; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--exclude", recording.exclude, "Do not count inside classes that match; may be repeated")
      ->allow_extra_args(false);
  app->add_flag("--no-jdk", recording.no_jdk, "Do not count inside the JDK's own classes: cheaper");
  app->add_option("--memory", recording.memory, "How far the recording may grow, e.g. 512M")->capture_default_str();
  app->footer(
      "The program needs no preparation. JDK 21 and later print a warning when an agent is loaded; Sonde says how to\n"
      "avoid it. When the recording ends, the JVM is as it was before.\n\n"
      "Examples:\n"
      "  sonde attach 4711 --duration 30s\n"
      "  sonde attach org.acme.Main --mode cpu:1ms,wall -o now.sonde");
  app->callback([&] { chosen = [&](const Console& console) { return attach(options, console); }; });
}

void add_top(CLI::App& parent, TopOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("top", "Watch a recording live: hot methods, rates, own cost");
  options.recording.mode = "cpu";
  app->add_option("TARGET", options.target, std::string(kProcessHelp) + ", or a folder NAME.sonde.live")->required();
  app->add_option("--mode", options.recording.mode, "What to record if nothing is recorded yet")->capture_default_str();
  app->add_option("-o,--output", options.recording.out, "Keep what was recorded for this view")->type_name("FILE");
  app->add_option("--frames", options.frames, "End after so many screens, one per second")->type_name("N");
  app->add_flag("--hot", options.hot, "Begin with the hottest methods and calls of the samples");
  app->footer(
      "Refreshed every second from the recording's memory, without work in the program. Keys: m next metric, s next\n"
      "order, b rows by method, class, package or thread, h hottest methods and calls, c w e f start and stop a mode,\n"
      "q quit.\n\n"
      "Examples:\n"
      "  sonde top 4711\n"
      "  sonde top app.sonde.live\n"
      "  sonde top 4711 --frames 3 | cat");
  app->callback([&] { chosen = [&](const Console& console) { return top(options, console); }; });
}

void add_detach(CLI::App& parent, DetachOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("detach", "End the recording in a JVM; its agent goes to sleep");
  app->add_option("PROCESS", options.process, kProcessHelp)->required();
  app->footer("Example:\n  sonde detach 4711");
  app->callback([&] { chosen = [&](const Console& console) { return detach(options, console); }; });
}

void add_ctl(CLI::App& parent, CtlOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("ctl", "Start and stop modes of a recording while the program runs");
  app->add_option("PROCESS", options.process, kProcessHelp)->required();
  app->add_option("ACTION", options.action, "start, stop or status")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "status"}));
  app->add_option("MODE", options.modes, "Modes as in `sonde run --mode`");
  app->footer(
      "The recording is the one that `sonde attach` or `sonde top` began.\n\n"
      "Examples:\n"
      "  sonde ctl 4711 start wall:20ms\n"
      "  sonde ctl 4711 stop wall\n"
      "  sonde ctl 4711 status");
  app->callback([&] { chosen = [&](const Console& console) { return ctl(options, console); }; });
}

}  // namespace

void add_process_commands(CLI::App& parent, ProcessOptions& options, Command& chosen) {
  add_ps(parent, options.ps, chosen);
  add_attach(parent, options.attach, chosen);
  add_top(parent, options.top, chosen);
  add_ctl(parent, options.ctl, chosen);
  add_detach(parent, options.detach, chosen);
}

}  // namespace sonde::cli
