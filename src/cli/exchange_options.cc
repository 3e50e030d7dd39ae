// SPDX-License-Identifier: Apache-2.0
// Options of the commands that write and read other formats.
#include "cli/command_line.h"
#include "cli/exchange_command.h"

namespace sonde::cli {
namespace {

const std::map<std::string, ExportFormat> kExportFormats = {
    {"jsonl", ExportFormat::kJsonl},     {"collapsed", ExportFormat::kCollapsed},
    {"pprof", ExportFormat::kPprof},     {"speedscope", ExportFormat::kSpeedscope},
    {"csv", ExportFormat::kCsv},         {"hprof-text", ExportFormat::kHprofText},
    {"firefox", ExportFormat::kFirefox}, {"jfr", ExportFormat::kJfr},
    {"html", ExportFormat::kHtml}};
const std::map<std::string, ImportFormat> kImportFormats = {
    {"collapsed", ImportFormat::kCollapsed}, {"pprof", ImportFormat::kPprof}, {"jfr", ImportFormat::kJfr}};

void add_export(CLI::App& parent, ExportOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("export", "Write a recording in another format");
  app->add_option("FILE", options.file, kRecordingHelp)->required();
  add_choice(*app, "--to", options.to, kExportFormats, "The format")->required();
  add_choice(*app, "--metric", options.metric, metric_words(),
             "For formats with one value per stack (default: bytecodes, else samples, else calls)");
  app->add_option("--depth", options.depth, "Frames of a stack trace in hprof-text")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--diff", options.diff, "With html: a second recording; colours show what it changed")
      ->type_name("FILE");
  app->add_option("-o,--output", options.out, "Where to write; stdout if not given")->type_name("OUT");
  app->footer(
      "html        one page with flame graph and table that works everywhere\n"
      "jsonl       one context per line with thread, stack and all metrics\n"
      "collapsed   thread;frame;frame value, for flame graphs\n"
      "pprof       profile.proto with all metrics, for `go tool pprof` and many servers\n"
      "speedscope  JSON with all metrics, for speedscope.app\n"
      "csv         a row per method with all metrics, for spreadsheets\n"
      "hprof-text  the text of the HPROF agent: traces and a ranked list\n"
      "firefox     JSON for profiler.firefox.com\n"
      "jfr         a flight recording, for JDK Mission Control, IntelliJ and `jfr`\n\n"
      "Examples:\n"
      "  sonde export app.sonde --to html -o app.html\n"
      "  sonde export before.sonde --diff after.sonde --to html -o change.html\n"
      "  sonde export app.sonde --to jsonl | jq -c 'select(.calls > 1000)'\n"
      "  sonde export app.sonde --to pprof -o app.pb.gz && go tool pprof -top app.pb.gz");
  app->callback([&] { chosen = [&](const Console& console) { return export_recording(options, console); }; });
}

void add_import(CLI::App& parent, ImportOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("import", "Make a recording from another profiler's file");
  app->add_option("FILE", options.file, "Collapsed stacks, a profile of pprof, or a flight recording")->required();
  app->add_option("-o,--output", options.out, "The recording to write")->type_name("NAME.sonde")->required();
  add_choice(*app, "--from", options.from, kImportFormats, "The format; found out if not given");
  add_choice(*app, "--metric", options.metric, metric_words(),
             "What the numbers of collapsed stacks are (default samples)");
  app->add_flag("--no-threads", options.no_threads, "Collapsed stacks begin with a frame, not with a thread");
  app->add_option("--sample-type", options.sample_type, "Which value of a pprof file to take as samples")
      ->type_name("NAME");
  app->footer(
      "Files may be compressed with gzip. Of a flight recording the execution samples are taken, of pprof the sample\n"
      "types calls, bytecodes and samples, or else the default one as samples.\n\n"
      "Examples:\n"
      "  sonde import profile.jfr -o profile.sonde && sonde report profile.sonde\n"
      "  sonde import heap.pb.gz --sample-type inuse_space -o heap.sonde\n"
      "  sonde import stacks.txt --no-threads -o stacks.sonde && sonde export stacks.sonde --to html -o stacks.html");
  app->callback([&] { chosen = [&](const Console& console) { return import_file(options, console); }; });
}

}  // namespace

void add_exchange_commands(CLI::App& parent, ExchangeOptions& options, Command& chosen) {
  add_export(parent, options.to_others, chosen);
  add_import(parent, options.from_others, chosen);
}

}  // namespace sonde::cli
