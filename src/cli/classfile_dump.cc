// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/glob.h"
#include "classfile/printer.h"
#include "cli/class_walk.h"
#include "cli/classfile_command.h"

namespace sonde::cli {

int classfile_dump(const DumpOptions& options, const Console& console) {
  const classfile::PrintOptions print_options{.constant_pool = !options.no_pool, .code_only = options.code_only};
  Progress progress(console, "classes");
  std::string listing;
  std::uint64_t printed = 0;
  bool failed = false;
  const auto on_class = [&](const archive::ClassEntry& entry, const classfile::ClassFile& cls) {
    if (!options.class_pattern.empty() && !class_name_matches(options.class_pattern, cls.name())) return;
    listing.clear();
    if (printed++ != 0) listing += "\n";
    listing += fmt::format("# {}\n", entry.name);
    classfile::print(cls, print_options, listing);
    progress.clear();
    console.data(listing);
  };
  const auto on_problem = [&](const Problem& problem) {
    failed = true;
    progress.clear();
    console.fail(problem.subject, problem.error, help_for_class(problem.error));
  };
  const WalkTotals totals = walk_classes(options.paths, console, progress, on_class, on_problem);
  if (totals.classes != 0 && printed == 0) {
    failed = true;
    console.say(
        fmt::format("no class of {} matches `{}`; the pattern is compared with whole names such as "
                    "java.util.Map$Entry, and * stands for any text",
                    grouped(totals.classes), options.class_pattern));
  }
  note_newer_classes(totals, console);
  return console.flush() && !failed && !totals.paths_failed ? kOk : kFailed;
}

}  // namespace sonde::cli
