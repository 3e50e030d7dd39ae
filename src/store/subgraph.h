// SPDX-License-Identifier: Apache-2.0
// What a recording file has of modes subgraph and region beside the call tree: the calls of roots.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "profile/profile.h"

namespace sonde::store {

class Database;

Result<void> write_subgraph(Database& db, const profile::Profile& profile);
// After the call tree was read, from a file of this version; of a recording of another mode there is nothing.
Result<void> read_subgraph(Database& db, profile::Profile& profile, std::uint64_t version);

// Key in the table `meta` and place in the struct.
template <typename Subgraph>
auto subgraph_numbers(Subgraph& s) {
  return std::array{
      std::pair{std::string_view("subgraph_inner_ps"), &s.inner_ps},
      std::pair{std::string_view("subgraph_outer_ps"), &s.outer_ps},
      std::pair{std::string_view("subgraph_inner_error_ps"), &s.inner_error_ps},
      std::pair{std::string_view("subgraph_outer_error_ps"), &s.outer_error_ps},
      std::pair{std::string_view("subgraph_methods"), &s.methods},
      std::pair{std::string_view("subgraph_followed"), &s.followed},
      std::pair{std::string_view("subgraph_classes"), &s.classes},
      std::pair{std::string_view("subgraph_batches"), &s.batches},
      std::pair{std::string_view("subgraph_batch_ns"), &s.batch_ns},
      std::pair{std::string_view("subgraph_batch_p99_ns"), &s.batch_p99_ns},
      std::pair{std::string_view("subgraph_batch_max_ns"), &s.batch_max_ns},
      std::pair{std::string_view("subgraph_paused_ns"), &s.paused_ns},
      std::pair{std::string_view("subgraph_paused_p99_ns"), &s.paused_p99_ns},
      std::pair{std::string_view("subgraph_paused_max_ns"), &s.paused_max_ns},
      std::pair{std::string_view("subgraph_waited_ns"), &s.waited_ns},
  };
}

}  // namespace sonde::store
