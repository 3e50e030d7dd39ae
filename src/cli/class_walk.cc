// SPDX-License-Identifier: Apache-2.0
#include "cli/class_walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cli {
namespace {

void count(const classfile::ClassFile& cls, WalkTotals& totals) {
  ++totals.classes;
  totals.newer_classes += cls.is_newer_than_known() ? 1 : 0;
  totals.oldest_version = std::min(totals.oldest_version, cls.major_version());
  totals.newest_version = std::max(totals.newest_version, cls.major_version());
}

}  // namespace

std::string WalkTotals::versions() const {
  if (classes == 0) return "no versions";
  if (oldest_version == newest_version) return fmt::format("version {}", newest_version);
  return fmt::format("versions {}..{}", oldest_version, newest_version);
}

WalkTotals walk_classes(const std::vector<std::string>& paths, const Console& console, Progress& progress,
                        const ClassCallback& on_class, const ProblemCallback& on_problem) {
  WalkTotals totals;
  bool any_at_all = false;
  for (const std::string& path : paths) {
    bool any = false;
    const auto visit = [&](const archive::ClassEntry& entry) {
      any = true;
      progress.step(entry.name);
      if (entry.bytes.empty()) {
        on_problem({entry.name, {ErrorCode::kTruncated, "the file is empty"}});
        return true;
      }
      const Result<classfile::ClassFile> cls = classfile::ClassFile::parse(entry.bytes);
      if (cls.ok()) {
        count(*cls, totals);
        on_class(entry, *cls);
      } else {
        on_problem({entry.name, cls.error()});
      }
      return true;
    };
    const auto unreadable = [&](const std::string& name, const Error& error) {
      any = true;
      on_problem({name, error});
    };
    const Result<void> visited = archive::for_each_class(path, visit, unreadable);
    any_at_all = any_at_all || any;
    if (visited.ok() && any) continue;
    progress.clear();
    if (visited.ok()) {
      console.say(fmt::format("note: {}: holds no .class files", path));
    } else {
      totals.paths_failed = true;
      console.fail(path, visited.error(), help_for_path(visited.error()));
    }
  }
  progress.clear();
  totals.paths_failed = totals.paths_failed || !any_at_all;
  return totals;
}

void note_newer_classes(const WalkTotals& totals, const Console& console) {
  if (totals.newer_classes == 0) return;
  console.say(fmt::format(
      "note: {} of {} classes are newer than version {} (the newest is {}), which this program was "
      "written for. Nothing in them was unknown, but rules may have changed.",
      grouped(totals.newer_classes), grouped(totals.classes), classfile::kNewestMajor, totals.newest_version));
}

}  // namespace sonde::cli
