// SPDX-License-Identifier: Apache-2.0
// What the files that declare commands and their options share. CLI11 takes seconds to compile: only main.cc and
// *_options.cc include this.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "cli/attach_command.h"
#include "cli/compare_command.h"
#include "cli/console.h"
#include "cli/exchange_command.h"
#include "cli/gate_command.h"

namespace sonde::cli {

// A command is chosen while parsing and run afterwards, so that nothing runs on half a command line.
using Command = std::function<int(const Console&)>;

inline constexpr const char* kRecordingHelp =
    "A finished recording (NAME.sonde) or the folder of a live one (NAME.sonde.live)";
inline constexpr const char* kPatternHelp =
    "A PATTERN is a package (com.acme.*), a class (HashMap or java.util.HashMap), a method (HashMap.put,\n"
    "com.acme.*.get*) or * for everything; `*` stands for any text.";

// An option whose value is one of a few words.
template <typename T, typename Value = T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value, const std::map<std::string, T>& choices,
                        const std::string& help) {
  std::string words;
  for (const auto& [word, unused] : choices) words += (words.empty() ? "" : "|") + word;
  const auto parse = [&value, &choices, words](const std::string& text) {
    const auto it = choices.find(text);
    if (it == choices.end()) throw CLI::ValidationError("`" + text + "` is none of " + words);
    value = it->second;
  };
  return app.add_option_function<std::string>(name, parse, help)->type_name(words);
}

const std::map<std::string, profile::Metric>& metric_words();
// --include and --exclude.
void add_filters(CLI::App& app, std::vector<std::string>& include, std::vector<std::string>& exclude);

// Commands that compare recordings with each other or with limits.
struct CompareOptions {
  OverlapOptions overlap;
  DiffOptions diff;
  BaselineOptions baseline;
  CheckGateOptions check;
};
void add_compare_commands(CLI::App& parent, CompareOptions& options, Command& chosen);

// Commands for JVMs that run.
struct ProcessOptions {
  PsOptions ps;
  AttachOptions attach;
  TopOptions top;
  CtlOptions ctl;
  DetachOptions detach;
};
void add_process_commands(CLI::App& parent, ProcessOptions& options, Command& chosen);

// Commands that write and read other formats.
void add_exchange_commands(CLI::App& parent, ExchangeOptions& options, Command& chosen);

}  // namespace sonde::cli
