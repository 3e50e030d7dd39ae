// SPDX-License-Identifier: Apache-2.0
// Reading a finished file. It may come from anyone and be damaged anywhere: ids are checked before they are used.
#include <unordered_map>

#include "store/names.h"
#include "store/read.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/subgraph.h"
#include "store/tree.h"

namespace sonde::store {
namespace {

using profile::Profile;

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

Result<std::uint64_t> check_version(Database& db) {
  if (TRY(db.integer("PRAGMA application_id")) != kApplicationId) {
    return malformed("is an SQLite database, but not a recording of Sonde");
  }
  const std::uint64_t version = TRY(db.integer("PRAGMA user_version"));
  if (version == 0 || version > kFormatVersion) {
    return Error{ErrorCode::kUnsupported, "has format " + std::to_string(version) + "; this Sonde reads up to " +
                                              std::to_string(kFormatVersion) + ", so a newer one is needed"};
  }
  return version;
}

// SQLite itself would notice only when it comes to the page that is cut.
Result<void> check_size(Database& db, const std::filesystem::path& path) {
  const std::uint64_t size = TRY(db.integer("PRAGMA page_count")) * TRY(db.integer("PRAGMA page_size"));
  std::error_code error;
  if (std::filesystem::file_size(path, error) < size || error) return malformed("is damaged: its end is missing");
  return {};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

Result<void> read_meta(Database& db, profile::Recording& recording, std::uint64_t& nodes) {
  std::unordered_map<std::string, std::string> text;
  std::unordered_map<std::string, std::uint64_t> number;
  Statement select = TRY(db.prepare("SELECT k, v FROM meta"));
  while (TRY(select.next())) {
    text[select.text(0)] = select.text(1);
    number[select.text(0)] = select.integer(1);
  }
  const auto state = parse(kStates, text["state"]);
  if (!state || !text.contains("nodes")) return malformed("is damaged: its table `meta` is not complete");
  nodes = number["nodes"];
  recording = {.command = text["command"],
               .jdk = text["jdk"],
               .mode = text["mode"],
               .sampling = {.granularity = number["granularity"],
                            .jitter = number["jitter"],
                            .seed = number["seed"],
                            .max_path = number["max_path"],
                            .weights = text["weights"]},
               .state = *state,
               .is_precise = number["is_precise"] != 0,
               .includes_jdk = number["includes_jdk"] != 0,
               .is_attached = number["is_attached"] != 0,
               .pid = static_cast<std::uint32_t>(number["pid"]),
               .start_ns = number["start_ns"],
               .end_ns = number["end_ns"],
               .own_cpu_ns = number["own_cpu_ns"],
               .arena_bytes = number["arena_bytes"],
               .arena_nodes = number["arena_nodes"],
               .arena_capacity = number["arena_capacity"],
               .known_methods = number["known_methods"],
               .known_classes = number["known_classes"],
               .damage_count = number["damage_count"],
               .damage_notes = lines_of(text["damage_notes"])};
  for (const auto& [key, value] : sampling_numbers(recording.time_sampling)) *value = number[std::string(key)];
  recording.time_sampling.cpu_clock = text["sampling_cpu_clock"];
  recording.time_sampling.walker = text["sampling_walker"];
  recording.subgraph.scheme = text["subgraph_scheme"];
  recording.subgraph.time = text["subgraph_time"];
  for (const auto& [key, value] : subgraph_numbers(recording.subgraph)) *value = number[std::string(key)];
  return {};
}

// Rows are numbered from 0 without gaps: the id is the place in the vector.
Result<void> check_id(const Statement& row, std::size_t expected, const char* table) {
  if (row.integer(0) == expected) return {};
  return malformed(std::string("is damaged: row ") + std::to_string(expected) + " of table `" + table + "` is missing");
}

Result<void> read_methods(Database& db, Profile& profile) {
  profile.classes.clear();
  Statement classes = TRY(db.prepare("SELECT id, name, source_file, is_jdk FROM class ORDER BY id"));
  while (TRY(classes.next())) {
    TRY(check_id(classes, profile.classes.size(), "class"));
    profile.classes.push_back(
        {.name = classes.text(1), .source_file = classes.text(2), .is_jdk = classes.integer(3) != 0});
  }
  profile.methods.clear();
  Statement methods =
      TRY(db.prepare("SELECT id, class, name, descriptor, access_flags, first_line, kind FROM method ORDER BY id"));
  while (TRY(methods.next())) {
    TRY(check_id(methods, profile.methods.size(), "method"));
    const std::uint64_t cls = methods.integer(1);
    const auto kind = parse(kMethodKinds, methods.text(6));
    if (cls >= profile.classes.size() || !kind) {
      return malformed("is damaged: method " + std::to_string(profile.methods.size()) + " makes no sense");
    }
    profile.methods.push_back({.cls = profile::ClassId(static_cast<std::uint32_t>(cls)),
                               .name = methods.text(2),
                               .descriptor = methods.text(3),
                               .access_flags = static_cast<std::uint16_t>(methods.integer(4)),
                               .first_line = static_cast<std::uint16_t>(methods.integer(5)),
                               .kind = *kind});
  }
  if (profile.methods.empty()) return malformed("is damaged: it has no methods");
  return {};
}

Result<void> read_threads(Database& db, Profile& profile) {
  Statement select =
      TRY(db.prepare("SELECT id, name, more, is_virtual, java_thread_id, start_ns FROM thread ORDER BY id"));
  while (TRY(select.next())) {
    TRY(check_id(select, profile.threads.size(), "thread"));
    profile.threads.push_back({.name = select.text(1),
                               .more = static_cast<std::uint32_t>(select.integer(2)),
                               .is_virtual = select.integer(3) != 0,
                               .java_thread_id = select.integer(4),
                               .start_ns = select.integer(5)});
  }
  return {};
}

Result<void> read_counters(Database& db, Profile& profile) {
  Statement select = TRY(db.prepare("SELECT id, value, name, severity, sentence FROM counter ORDER BY id"));
  while (TRY(select.next())) {
    const auto severity = parse(kSeverities, select.text(3));
    if (!severity) return malformed("is damaged: counter " + std::to_string(select.integer(0)) + " makes no sense");
    profile.counters.push_back({.id = static_cast<std::uint16_t>(select.integer(0)),
                                .value = select.integer(1),
                                .name = select.text(2),
                                .severity = *severity,
                                .sentence = select.text(4)});
  }
  return {};
}

}  // namespace

Result<Profile> read_file(const std::filesystem::path& path) {
  Database db = TRY(Database::open(path, Database::Access::kReadOnly));
  const std::uint64_t version = TRY(check_version(db));
  TRY(check_size(db, path));
  Profile profile;
  std::uint64_t nodes = 0;
  TRY(read_meta(db, profile.recording, nodes));
  TRY(read_methods(db, profile));
  TRY(read_threads(db, profile));
  TRY(read_counters(db, profile));
  TRY(read_tree(db, profile, nodes, version));
  TRY(read_samples(db, profile));
  TRY(read_subgraph(db, profile, version));
  return profile;
}

}  // namespace sonde::store
