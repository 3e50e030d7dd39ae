// SPDX-License-Identifier: Apache-2.0
// The sampled part of a recording file: states of threads and the timeline.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "profile/profile.h"

namespace sonde::store {

class Database;

Result<void> write_samples(Database& db, const profile::Profile& profile);
// After the call tree was read; a file without samples gives none.
Result<void> read_samples(Database& db, profile::Profile& profile);

// Key in the table `meta` and place in the struct.
template <typename Sampling>
auto sampling_numbers(Sampling& s) {
  return std::array{
      std::pair{std::string_view("sampling_cpu_interval_ns"), &s.cpu_interval_ns},
      std::pair{std::string_view("sampling_wall_interval_ns"), &s.wall_interval_ns},
      std::pair{std::string_view("sampling_cpu_samples"), &s.cpu_samples},
      std::pair{std::string_view("sampling_cpu_counts_squared"), &s.cpu_counts_squared},
      std::pair{std::string_view("sampling_wall_samples"), &s.wall_samples},
      std::pair{std::string_view("sampling_failed_samples"), &s.failed_samples},
      std::pair{std::string_view("sampling_thread_cpu_ns"), &s.thread_cpu_ns},
      std::pair{std::string_view("sampling_handler_ns"), &s.handler_ns},
      std::pair{std::string_view("sampling_handler_p50_ns"), &s.handler_p50_ns},
      std::pair{std::string_view("sampling_handler_p99_ns"), &s.handler_p99_ns},
      std::pair{std::string_view("sampling_decoder_cpu_ns"), &s.decoder_cpu_ns},
      std::pair{std::string_view("sampling_memory_bytes"), &s.memory_bytes},
  };
}

}  // namespace sonde::store
