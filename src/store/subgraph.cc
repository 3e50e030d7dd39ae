// SPDX-License-Identifier: Apache-2.0
#include "store/subgraph.h"

#include <algorithm>
#include <string>

#include "arena/layout.h"
#include "store/sqlite.h"

namespace sonde::store {
namespace {

using profile::MethodId;
using profile::Profile;
using profile::RootCalls;

constexpr std::uint64_t kFirstWithBareCalls = 5;  // version of the format

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

Result<void> write_root(Database& db, const RootCalls& root) {
  const std::uint32_t method = root.method.value();
  Statement insert = TRY(db.prepare("INSERT INTO root VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert << method << root.calls << root.exceptions << root.timed << root.time_ns << root.least_ns << root.time_at(0.5)
         << root.time_at(0.99) << root.most_ns;
  TRY(insert.run());
  if (root.all_bare != 0) {
    Statement bare = TRY(db.prepare("INSERT INTO root_bare VALUES(?, ?, ?, ?, ?, ?)"));
    TRY((bare << method << root.all_bare << root.bare << root.bare_ns << root.bare_error_ns << root.cost_percent)
            .run());
  }
  Statement bucket = TRY(db.prepare("INSERT INTO root_bucket VALUES(?, ?, ?, ?)"));
  for (std::uint32_t i = 0; i < root.buckets.size(); ++i) {
    if (root.buckets[i] == 0) continue;
    TRY((bucket << method << i << arena::least_of_bucket(i) << root.buckets[i]).run());
  }
  Statement call = TRY(db.prepare("INSERT INTO root_call VALUES(?, ?, ?, ?)"));
  for (std::size_t i = 0; i < root.last.size(); ++i)
    TRY((call << method << i << root.last[i].start_ns << root.last[i].time_ns).run());
  return {};
}

Result<RootCalls*> root_of(Profile& profile, std::uint64_t method) {
  const MethodId id(static_cast<std::uint32_t>(method));
  const auto it = std::ranges::find(profile.roots, id, &RootCalls::method);
  if (it == profile.roots.end()) return malformed("is damaged: calls are of no root");
  return &*it;
}

Result<void> read_roots(Database& db, Profile& profile) {
  Statement roots =
      TRY(db.prepare("SELECT method, calls, exceptions, timed, time_ns, least_ns, most_ns FROM root ORDER BY method"));
  while (TRY(roots.next())) {
    if (roots.integer(0) >= profile.methods.size()) return malformed("is damaged: a root is no method");
    profile.roots.push_back({.method = MethodId(static_cast<std::uint32_t>(roots.integer(0))),
                             .calls = roots.integer(1),
                             .exceptions = roots.integer(2),
                             .timed = roots.integer(3),
                             .time_ns = roots.integer(4),
                             .least_ns = roots.integer(5),
                             .most_ns = roots.integer(6),
                             .buckets = std::vector<std::uint64_t>(arena::kTimeBuckets)});
  }
  Statement buckets = TRY(db.prepare("SELECT method, bucket, calls FROM root_bucket"));
  while (TRY(buckets.next())) {
    if (buckets.integer(1) >= arena::kTimeBuckets) return malformed("is damaged: a time is in no bucket");
    TRY(root_of(profile, buckets.integer(0)))->buckets[buckets.integer(1)] = buckets.integer(2);
  }
  Statement calls = TRY(db.prepare("SELECT method, start_ns, time_ns FROM root_call ORDER BY method, number"));
  while (TRY(calls.next()))
    TRY(root_of(profile, calls.integer(0)))->last.push_back({calls.integer(1), calls.integer(2)});
  return {};
}

Result<void> read_bare_calls(Database& db, Profile& profile) {
  Statement bare = TRY(db.prepare("SELECT method, calls, steady, time_ns, error_ns, cost_percent FROM root_bare"));
  while (TRY(bare.next())) {
    RootCalls* root = TRY(root_of(profile, bare.integer(0)));
    root->all_bare = bare.integer(1);
    root->bare = bare.integer(2);
    root->bare_ns = bare.integer(3);
    root->bare_error_ns = bare.integer(4);
    root->cost_percent = bare.integer(5);
  }
  return {};
}

}  // namespace

Result<void> write_subgraph(Database& db, const Profile& profile) {
  for (const RootCalls& root : profile.roots) TRY(write_root(db, root));
  return {};
}

Result<void> read_subgraph(Database& db, Profile& profile, std::uint64_t version) {
  if (!profile.recording.subgraph.is_on()) return {};
  TRY(read_roots(db, profile));
  return version < kFirstWithBareCalls ? Result<void>() : read_bare_calls(db, profile);
}

}  // namespace sonde::store
