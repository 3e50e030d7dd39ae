// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "classfile/class_editor.h"
#include "cli/classfile_command.h"
#include "cli/problem_report.h"

namespace sonde::cli {
namespace {

class Roundtrip {
 public:
  [[nodiscard]] std::uint64_t methods() const { return methods_; }

  // An error says what was refused, or where the new bytes begin to differ.
  Result<void> run(const classfile::ClassFile& cls) {
    editor_.open(cls);
    for (const classfile::Member& method : cls.methods()) {
      if (!classfile::has_code(method)) continue;
      (void)TRY(editor_.edit(method));
      TRY(editor_.commit());
      ++methods_;
    }
    return compare(cls, TRY(editor_.write()));
  }

 private:
  static Result<void> compare(const classfile::ClassFile& cls, Bytes written) {
    const Bytes original = cls.bytes();
    const auto [was, is] = std::mismatch(original.begin(), original.end(), written.begin(), written.end());
    if (was == original.end() && is == written.end()) return {};
    const auto at = static_cast<std::uint64_t>(was - original.begin());
    return Error{ErrorCode::kMalformed,
                 fmt::format("was written back with {} bytes instead of {}, the first difference is here",
                             written.size(), original.size()),
                 {.path = element_at(cls, at), .byte_offset = at}};
  }

  // The method whose code holds this byte, if one does.
  static std::string element_at(const classfile::ClassFile& cls, std::uint64_t at) {
    for (const classfile::Member& method : cls.methods()) {
      const auto code = method.attributes.find(classfile::attribute::kCode);
      if (code && at >= code->offset - 4 && at < code->offset + code->content.size()) {
        return "method `" + qualified_name(cls, method) + "`";
      }
    }
    return {};
  }

  classfile::ClassEditor editor_;  // one for all classes, as in the agent: its memory is used again
  std::uint64_t methods_ = 0;
};

}  // namespace

int classfile_roundtrip(const RoundtripOptions& options, const Console& console) {
  Progress progress(console, "classes");
  ProblemReport report(console, progress, options.json);
  Roundtrip roundtrip;
  std::uint64_t bytes = 0;
  const auto on_class = [&](const archive::ClassEntry& entry, const classfile::ClassFile& cls) {
    bytes += entry.bytes.size();
    const Result<void> result = roundtrip.run(cls);
    if (!result.ok()) report.add({entry.name, result.error()});
  };
  const auto on_problem = [&](const Problem& problem) { report.add(problem); };
  const WalkTotals totals = walk_classes(options.paths, console, progress, on_class, on_problem);
  if (!options.json && !report.is_pointless(totals)) {
    console.data(fmt::format("{} classes, {} methods laid out anew, {:.1f} MB, {}, {} in {}\n", grouped(totals.classes),
                             grouped(roundtrip.methods()), static_cast<double>(bytes) / 1e6,
                             report.size() == 0 ? "all identical" : report.summary(), totals.versions(),
                             seconds(progress.elapsed())));
  }
  report.write_json(totals, {{"methods", roundtrip.methods()}, {"bytes", bytes}});
  note_newer_classes(totals, console);
  return console.flush() && report.size() == 0 && !totals.paths_failed ? kOk : kFailed;
}

}  // namespace sonde::cli
