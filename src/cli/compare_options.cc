// SPDX-License-Identifier: Apache-2.0
// Options of the commands that compare.
#include "cli/command_line.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

profile::Metric metric_word(const std::string& text) {
  const auto metric = profile::metric_named(text);
  if (metric) return *metric;
  std::string names;
  for (const profile::MetricInfo& info : profile::kMetrics)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  throw CLI::ValidationError("`" + text + "` is no metric: " + names);
}

void add_overlap(CLI::App& parent, OverlapOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("overlap", "Tell how far two recordings agree, in percent");
  app->add_option("A", options.a, kRecordingHelp)->required();
  app->add_option("B", options.b, "The recording to compare with")->required();
  app->add_option_function<std::string>(
         "--metric",
         [&options](const std::string& text) {
           const std::size_t comma = text.find(',');
           options.metric_a = metric_word(text.substr(0, comma));
           options.metric_b = comma == std::string::npos ? options.metric_a : metric_word(text.substr(comma + 1));
         },
         "What to compare; two words with a comma: of A and of B (default: of each times or samples, else bytecodes)")
      ->type_name("M[,N]");
  add_filters(*app, options.include, options.exclude);
  app->add_flag("--by-thread", options.by_thread, "Contexts of threads with different names are different ones");
  app->add_flag("--json", options.json, "Print one JSON object");
  app->footer(
      "A context has a share of all that its recording measured. The overlap is the sum of the smaller shares of the\n"
      "contexts that both recordings have: 100 % if all shares are the same, 0 % if there is no common context.\n"
      "Methods that do not match leave the stacks, and the shares are those of the rest.\n\n" +
      std::string(kPatternHelp) +
      "\n\n"
      "Examples:\n"
      "  sonde overlap exact.sonde sampled.sonde\n"
      "  sonde overlap before.sonde after.sonde --metric calls --exclude 'java.*'\n"
      "  sonde overlap one.sonde two.sonde --json | jq .overlap_percent");
  app->callback([&] { chosen = [&](const Console& console) { return overlap(options, console); }; });
}

const std::map<std::string, DiffBy> kDiffWords = {{"context", DiffBy::kContext},
                                                  {"method", DiffBy::kMethod},
                                                  {"class", DiffBy::kClass},
                                                  {"package", DiffBy::kPackage}};

void add_diff(CLI::App& parent, DiffOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("diff", "Show what changed from one recording to another");
  app->add_option("A", options.a, kRecordingHelp)->required();
  app->add_option("B", options.b, "The later one")->required();
  add_choice(*app, "--by", options.by, kDiffWords, "What a row stands for (default: methods, then contexts)");
  add_choice(*app, "--metric", options.metric, metric_words(),
             "What to compare (default: times or samples if both have them, else bytecodes)");
  app->add_flag("--normalise,--normalize", options.is_normalised,
                "Compare shares: for runs of different length, or samples");
  app->add_option("--top", options.top, "How many rows; 0 for all (default 10)")->type_name("N");
  app->add_flag("--all", options.all, "Also differences of samples that may be noise");
  add_filters(*app, options.include, options.exclude);
  app->add_option("--thread", options.thread, "Only threads whose name matches, e.g. 'worker-*'")->type_name("GLOB");
  app->add_flag("--json", options.json, "Print one JSON object");
  app->footer(
      "Methods and contexts are matched by name. Exact recordings need no threshold: every difference is real. "
      "Samples\n"
      "are counts of random events, so their differences come with p, the probability of such a difference by "
      "chance.\n\n" +
      std::string(kPatternHelp) +
      "\n\n"
      "Examples:\n"
      "  sonde diff before.sonde after.sonde\n"
      "  sonde diff before.sonde after.sonde --by context --exclude 'java.*' --metric calls\n"
      "  sonde diff monday.sonde tuesday.sonde --normalise --json | jq .path");
  app->callback([&] { chosen = [&](const Console& console) { return diff(options, console); }; });
}

constexpr const char* kLimitsHelp =
    "Limits and what is known to vary, a TOML file (default: sonde.toml, if there is one)";

void add_baseline(CLI::App& parent, BaselineOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("baseline", "Write down what a program costs, for `sonde check`");
  app->add_option("FILE", options.file, kRecordingHelp)->required();
  app->add_option("-o,--output", options.out, "Where to write; stdout if not given")->type_name("TXT");
  app->add_option("--limits", options.limits, kLimitsHelp)->type_name("TOML");
  app->add_option("--min-percent", options.min_percent, "Fold methods and contexts that have less of everything")
      ->type_name("P")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app->footer(
      "A baseline is a small text file that belongs into the repository of the program.\n\n"
      "Examples:\n"
      "  sonde baseline app.sonde -o perf/baseline.txt\n"
      "  sonde baseline app.sonde --limits perf/sonde.toml -o perf/baseline.txt && git diff perf");
  app->callback([&] { chosen = [&](const Console& console) { return baseline(options, console); }; });
}

void add_check_gate(CLI::App& parent, CheckGateOptions& options, Command& chosen) {
  CLI::App* app = parent.add_subcommand("check", "Compare a recording with a baseline; exit code 3 on a regression");
  app->add_option("FILE", options.file, kRecordingHelp)->required();
  app->add_option("--baseline", options.baseline, "What `sonde baseline` wrote")->type_name("TXT")->required();
  app->add_option("--limits", options.limits, kLimitsHelp)->type_name("TOML");
  app->add_flag("--json", options.json, "Print one JSON object");
  app->add_option("--markdown", options.markdown, "Also write Markdown, for a pull request")->type_name("OUT");
  app->add_option("--junit", options.junit, "Also write test results as JUnit XML")->type_name("OUT");
  app->footer(
      "Without limits, the bytecodes of the whole program and those of each method may grow by 1 %, and from 0.1 % on "
      "there\n"
      "is a warning. Exit code 0: all limits kept, or only soft ones broken. 3: a hard one is broken. 1: nothing could "
      "be\n"
      "compared.\n\n"
      "Examples:\n"
      "  sonde check --baseline perf/baseline.txt app.sonde\n"
      "  sonde check --baseline perf/baseline.txt --limits perf/sonde.toml --junit build/perf.xml app.sonde");
  app->callback([&] { chosen = [&](const Console& console) { return check_gate(options, console); }; });
}

}  // namespace

const std::map<std::string, profile::Metric>& metric_words() {
  static const std::map<std::string, profile::Metric> words = [] {
    std::map<std::string, profile::Metric> result;
    for (const profile::MetricInfo& info : profile::kMetrics) result.emplace(info.name, info.metric);
    return result;
  }();
  return words;
}

void add_filters(CLI::App& app, std::vector<std::string>& include, std::vector<std::string>& exclude) {
  app.add_option("--include", include, "Only methods that match; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--exclude", exclude, "No methods that match; may be repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
}

void add_compare_commands(CLI::App& parent, CompareOptions& options, Command& chosen) {
  add_diff(parent, options.diff, chosen);
  add_overlap(parent, options.overlap, chosen);
  add_baseline(parent, options.baseline, chosen);
  add_check_gate(parent, options.check, chosen);
}

}  // namespace sonde::cli
