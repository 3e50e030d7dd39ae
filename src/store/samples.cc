// SPDX-License-Identifier: Apache-2.0
#include "store/samples.h"

#include <algorithm>
#include <span>
#include <string>

#include "store/columns.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace sonde::store {

using profile::Profile;
using profile::TimelineEntry;

namespace {

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

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
  Statement insert = TRY(db.prepare("INSERT INTO thread_state VALUES(?, ?)"));
  for (std::size_t i = 0; i < profile.threads.size(); ++i) {
    if (!profile.threads[i].state.empty()) TRY((insert << i << profile.threads[i].state).run());
  }
  return write_timeline(db, profile.timeline);
}

Result<void> read_samples(Database& db, Profile& profile) {
  if (!profile.recording.time_sampling.is_on()) return {};
  TRY(read_states(db, profile));
  return read_timeline(db, profile);
}

}  // namespace sonde::store
