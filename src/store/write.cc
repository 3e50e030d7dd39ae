// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <system_error>

#include "profile/sums.h"
#include "store/names.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/subgraph.h"
#include "store/tree.h"

namespace sonde::store {
namespace {

using profile::Profile;

Error io_error(const std::filesystem::path& path, const std::string& action) {
  return {ErrorCode::kIo,
          "cannot " + action + ": " + std::generic_category().message(errno),
          {.path = path.string(), .byte_offset = {}}};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

Result<void> write_meta(Database& db, const Profile& profile) {
  Statement insert = TRY(db.prepare("INSERT INTO meta VALUES(?, ?)"));
  const profile::Recording& r = profile.recording;
  const auto number = [&](std::string_view key, std::uint64_t value) { return (insert << key << value).run(); };
  const auto text = [&](std::string_view key, std::string_view value) { return (insert << key << value).run(); };
  TRY(text("command", r.command));
  TRY(text("jdk", r.jdk));
  TRY(text("mode", r.mode));
  TRY(number("granularity", r.sampling.granularity));
  TRY(number("jitter", r.sampling.jitter));
  TRY(number("seed", r.sampling.seed));
  TRY(number("max_path", r.sampling.max_path));
  TRY(text("weights", r.sampling.weights));
  TRY(text("state", spell(kStates, r.state)));
  TRY(number("is_precise", r.is_precise ? 1 : 0));
  TRY(number("includes_jdk", r.includes_jdk ? 1 : 0));
  TRY(number("is_attached", r.is_attached ? 1 : 0));
  TRY(number("pid", r.pid));
  TRY(number("start_ns", r.start_ns));
  TRY(number("end_ns", r.end_ns));
  TRY(number("own_cpu_ns", r.own_cpu_ns));
  TRY(number("arena_bytes", r.arena_bytes));
  TRY(number("arena_nodes", r.arena_nodes));
  TRY(number("arena_capacity", r.arena_capacity));
  TRY(number("known_methods", r.known_methods));
  TRY(number("known_classes", r.known_classes));
  TRY(number("damage_count", r.damage_count));
  TRY(text("damage_notes", joined(r.damage_notes)));
  TRY(number("nodes", profile.tree.size()));
  for (const auto& [key, value] : sampling_numbers(r.time_sampling)) TRY(number(key, *value));
  TRY(text("sampling_cpu_clock", r.time_sampling.cpu_clock));
  TRY(text("sampling_walker", r.time_sampling.walker));
  if (!r.subgraph.is_on()) return {};
  TRY(text("subgraph_scheme", r.subgraph.scheme));
  TRY(text("subgraph_time", r.subgraph.time));
  for (const auto& [key, value] : subgraph_numbers(r.subgraph)) TRY(number(key, *value));
  return {};
}

Result<void> write_methods(Database& db, const Profile& profile) {
  Statement insert_class = TRY(db.prepare("INSERT INTO class VALUES(?, ?, ?, ?)"));
  for (std::size_t i = 0; i < profile.classes.size(); ++i) {
    const profile::Class& c = profile.classes[i];
    insert_class << i << c.name << c.source_file << std::uint64_t{c.is_jdk};
    TRY(insert_class.run());
  }
  Statement insert_method = TRY(db.prepare("INSERT INTO method VALUES(?, ?, ?, ?, ?, ?, ?)"));
  for (std::size_t i = 0; i < profile.methods.size(); ++i) {
    const profile::Method& m = profile.methods[i];
    insert_method << i << m.cls.value() << m.name << m.descriptor << m.access_flags << m.first_line
                  << spell(kMethodKinds, m.kind);
    TRY(insert_method.run());
  }
  return {};
}

Result<void> write_threads(Database& db, const Profile& profile) {
  Statement insert = TRY(db.prepare("INSERT INTO thread VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
  for (std::size_t i = 0; i < profile.threads.size(); ++i) {
    const profile::Thread& t = profile.threads[i];
    insert << i << t.name << t.more << std::uint64_t{t.is_virtual} << t.java_thread_id << t.start_ns << t.first_node
           << t.end_node;
    TRY(insert.run());
  }
  return {};
}

Result<void> write_counters(Database& db, const Profile& profile) {
  Statement insert = TRY(db.prepare("INSERT INTO counter VALUES(?, ?, ?, ?, ?)"));
  for (const profile::CounterValue& c : profile.counters) {
    TRY((insert << c.id << c.value << c.name << spell(kSeverities, c.severity) << c.sentence).run());
  }
  return {};
}

Result<void> write_sums(Database& db, const Profile& profile) {
  const std::vector<profile::Sum> sums = profile::sums_by_method(profile);
  Statement insert = TRY(db.prepare("INSERT INTO method_sum VALUES(?, ?, ?, ?)"));
  for (const profile::MetricInfo& info : profile::kMetrics) {
    for (std::size_t i = 1; i < sums.size(); ++i) {  // 0 is the root
      const std::uint64_t total = sums[i].total.of(info.metric);
      if (total != 0) TRY((insert << info.name << i << sums[i].self.of(info.metric) << total).run());
    }
  }
  return {};
}

Result<void> write_database(const Profile& profile, const std::filesystem::path& path) {
  Database db = TRY(Database::open(path, Database::Access::kCreate));
  // Nobody else sees the file before it is complete, so neither a journal nor locks are of use.
  TRY(
      db.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA application_id = " +
                 std::to_string(kApplicationId) + "; PRAGMA user_version = " + std::to_string(kFormatVersion)));
  TRY(db.execute("BEGIN"));
  TRY(db.execute(kSchema));
  TRY(write_meta(db, profile));
  TRY(write_methods(db, profile));
  TRY(write_threads(db, profile));
  TRY(write_counters(db, profile));
  TRY(write_sums(db, profile));
  TRY(write_tree(db, profile.tree));
  if (profile.recording.time_sampling.is_on()) TRY(write_samples(db, profile));
  if (profile.recording.subgraph.is_on()) TRY(write_subgraph(db, profile));
  return db.execute("COMMIT");
}

// A name beside the final one that goes away unless keep() is called.
class TemporaryFile {
 public:
  static Result<TemporaryFile> create(const std::filesystem::path& final_path) {
    std::string name = final_path.string() + ".part-XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);  // mode 0600
    if (fd < 0) return io_error(final_path, "create a file beside it");
    ::close(fd);
    return TemporaryFile(std::move(name));
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  Result<void> keep(const std::filesystem::path& final_path) {
    TRY(sync(path_));
    if (::rename(path_.c_str(), final_path.c_str()) != 0) return io_error(final_path, "give it its name");
    path_.clear();
    // The name is on disk when its folder is.
    return sync(final_path.has_parent_path() ? final_path.parent_path() : ".");
  }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}

  static Result<void> sync(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(path, "open");
    const bool is_synced = ::fsync(fd) == 0 || errno == EINVAL;  // a file system without it
    const Error error = io_error(path, "bring it to disk");
    ::close(fd);
    if (!is_synced) return error;
    return {};
  }

  std::string path_;
};

}  // namespace

Result<void> write(const Profile& profile, const std::filesystem::path& out_file) {
  TemporaryFile temporary = TRY(TemporaryFile::create(out_file));
  if (Result<void> written = write_database(profile, temporary.path()); !written.ok()) {
    return std::move(written).error().within(out_file.string());
  }
  return temporary.keep(out_file);
}

}  // namespace sonde::store
