// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "classfile/check.h"
#include "classfile/code.h"
#include "cli/classfile_command.h"
#include "cli/problem_report.h"

namespace sonde::cli {
namespace {

// Of a method whose code was checked already.
std::uint64_t count_instructions(const classfile::ClassFile& cls, const classfile::Member& method,
                                 classfile::Code& code) {
  if (!method.attributes.find(classfile::attribute::kCode)) return 0;
  if (!classfile::Code::parse_into(cls, method, code).ok()) return 0;
  return code.starts().size() - 1;
}

}  // namespace

int classfile_check(const CheckOptions& options, const Console& console) {
  Progress progress(console, "classes");
  ProblemReport report(console, progress, options.json);
  std::uint64_t methods = 0;
  std::uint64_t instructions = 0;
  classfile::Code code;
  const auto on_class = [&](const archive::ClassEntry& entry, const classfile::ClassFile& cls) {
    const std::vector<Error> findings = classfile::check(cls);
    for (const Error& finding : findings) report.add({entry.name, finding});
    methods += cls.methods().size();
    if (!findings.empty()) return;
    for (const classfile::Member& method : cls.methods()) instructions += count_instructions(cls, method, code);
  };
  const auto on_problem = [&](const Problem& problem) { report.add(problem); };
  const WalkTotals totals = walk_classes(options.paths, console, progress, on_class, on_problem);
  if (!options.json && !options.quiet && !report.is_pointless(totals)) {
    console.data(fmt::format("{} classes, {} methods, {} instructions, {}, {} in {}\n", grouped(totals.classes),
                             grouped(methods), rounded(instructions), report.summary(), totals.versions(),
                             seconds(progress.elapsed())));
  }
  report.write_json(totals, {{"methods", methods}, {"instructions", instructions}});
  note_newer_classes(totals, console);
  return console.flush() && report.size() == 0 && !totals.paths_failed ? kOk : kFailed;
}

}  // namespace sonde::cli
