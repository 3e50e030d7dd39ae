// SPDX-License-Identifier: Apache-2.0
#include "store/samples.h"

#include <algorithm>
#include <span>
#include <string>

#include "store/columns.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace sonde::store {

using profile::CallTree;
using profile::Profile;
using profile::TimelineEntry;

namespace {

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

Result<void> write_columns(Database& db, const CallTree& tree) {
  Statement insert = TRY(db.prepare("INSERT INTO time_tree VALUES(?, ?, ?, ?)"));
  ColumnEncoder encoder;
  const auto as_is = [](std::uint64_t value) { return value; };
  for (std::size_t first = 0, chunk = 0; first < tree.size(); first += kNodesPerChunk, ++chunk) {
    const std::size_t count = std::min<std::size_t>(kNodesPerChunk, tree.size() - first);
    const auto part = [&](const auto& column) { return std::span(column).subspan(first, count); };
    insert << chunk;
    insert << encoder.encode(0, part(tree.cpu_ns), as_is);
    insert << encoder.encode(1, part(tree.wall_ns), as_is);
    insert << encoder.encode(2, part(tree.activations), as_is);
    TRY(insert.run());
  }
  return {};
}

// Buckets are written as differences: they only grow.
Result<void> write_timeline(Database& db, const std::vector<TimelineEntry>& timeline) {
  Statement insert = TRY(db.prepare("INSERT INTO timeline VALUES(?, ?, ?, ?, ?)"));
  ColumnEncoder encoder;
  for (std::size_t first = 0, chunk = 0; first < timeline.size(); first += kNodesPerChunk, ++chunk) {
    const std::size_t count = std::min<std::size_t>(kNodesPerChunk, timeline.size() - first);
    const auto part = std::span(timeline).subspan(first, count);
    std::uint32_t previous = 0;
    const auto difference = [&](const TimelineEntry& e) {
      return std::uint64_t{e.bucket - std::exchange(previous, e.bucket)};
    };
    insert << chunk << count;
    insert << encoder.encode(0, part, difference);
    insert << encoder.encode(1, part, [](const TimelineEntry& e) { return std::uint64_t{e.node}; });
    insert << encoder.encode(2, part, [](const TimelineEntry& e) { return std::uint64_t{e.samples}; });
    TRY(insert.run());
  }
  return {};
}

Result<void> read_columns(Database& db, CallTree& tree) {
  Statement select = TRY(db.prepare("SELECT chunk, cpu_ns, wall_ns, activations FROM time_tree ORDER BY chunk"));
  ColumnDecoder decoder;
  std::vector<std::uint64_t>* const columns[] = {&tree.cpu_ns, &tree.wall_ns, &tree.activations};
  std::size_t read = 0;
  while (TRY(select.next())) {
    const std::size_t count = std::min<std::size_t>(kNodesPerChunk, tree.size() - read);
    for (int i = 0; i < 3; ++i) {
      const auto values = TRY(decoder.decode(select.blob(i + 1), count));
      std::ranges::copy(values, columns[i]->begin() + static_cast<std::ptrdiff_t>(read));
    }
    read += count;
  }
  if (read != tree.size()) return malformed("is damaged: a part of the samples is missing");
  return {};
}

Result<void> read_states(Database& db, Profile& profile) {
  Statement select = TRY(db.prepare("SELECT thread, state FROM thread_state"));
  while (TRY(select.next())) {
    const std::uint64_t thread = select.integer(0);
    if (thread >= profile.threads.size()) return malformed("is damaged: a state is of no thread");
    profile.threads[thread].state = select.text(1);
  }
  return {};
}

Result<void> read_timeline(Database& db, Profile& profile) {
  Statement select = TRY(db.prepare("SELECT entries, bucket, node, samples FROM timeline ORDER BY chunk"));
  ColumnDecoder decoder;
  while (TRY(select.next())) {
    const std::uint64_t count = select.integer(0);
    if (count > kNodesPerChunk) return malformed("is damaged: a part of the timeline is too long");
    const std::size_t first = profile.timeline.size();
    profile.timeline.resize(first + count);
    const std::span<TimelineEntry> part = std::span(profile.timeline).subspan(first);
    std::uint64_t bucket = 0;
    std::size_t i = 0;
    for (const std::uint64_t v : TRY(decoder.decode(select.blob(1), count))) {
      bucket += v;
      part[i++].bucket = static_cast<std::uint32_t>(bucket);
    }
    i = 0;
    for (const std::uint64_t v : TRY(decoder.decode(select.blob(2), count))) {
      if (v >= profile.tree.size()) return malformed("is damaged: the timeline names a context that does not exist");
      part[i++].node = static_cast<std::uint32_t>(v);
    }
    i = 0;
    for (const std::uint64_t v : TRY(decoder.decode(select.blob(3), count))) {
      part[i++].samples = static_cast<std::uint32_t>(v);
    }
  }
  return {};
}

}  // namespace

Result<void> write_samples(Database& db, const Profile& profile) {
  TRY(write_columns(db, profile.tree));
  Statement insert = TRY(db.prepare("INSERT INTO thread_state VALUES(?, ?)"));
  for (std::size_t i = 0; i < profile.threads.size(); ++i) {
    if (!profile.threads[i].state.empty()) TRY((insert << i << profile.threads[i].state).run());
  }
  return write_timeline(db, profile.timeline);
}

Result<void> read_samples(Database& db, Profile& profile) {
  if (!profile.recording.time_sampling.is_on()) return {};
  TRY(read_columns(db, profile.tree));
  TRY(read_states(db, profile));
  return read_timeline(db, profile);
}

}  // namespace sonde::store
