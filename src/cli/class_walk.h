// SPDX-License-Identifier: Apache-2.0
// What the `classfile` subcommands share: going through the classes of all paths, keeping count, and telling the user
// what could not be read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "archive/class_source.h"
#include "classfile/class_file.h"
#include "cli/console.h"

namespace sonde::cli {

// Something wrong with a class, as opposed to a path that cannot be opened.
struct Problem {
  std::string subject;  // the class's entry name
  Error error;
};

struct WalkTotals {
  std::uint64_t classes = 0;  // parsed ones
  std::uint64_t newer_classes = 0;
  std::uint16_t oldest_version = 0xffff;
  std::uint16_t newest_version = 0;
  bool paths_failed = false;

  // "versions 49..69"
  [[nodiscard]] std::string versions() const;
};

using ClassCallback = std::function<void(const archive::ClassEntry&, const classfile::ClassFile&)>;
using ProblemCallback = std::function<void(Problem)>;

// Classes that do not parse, and entries that cannot be read, are problems. Paths that cannot be opened are told
// to the user at once and set paths_failed. One that holds no class is only noted, unless none of them does.
WalkTotals walk_classes(const std::vector<std::string>& paths, const Console& console, Progress& progress,
                        const ClassCallback& on_class, const ProblemCallback& on_problem);

// A note if some classes are newer than the library.
void note_newer_classes(const WalkTotals& totals, const Console& console);

}  // namespace sonde::cli
