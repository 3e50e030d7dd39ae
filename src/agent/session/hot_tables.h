// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. The hottest methods and edges so far, always sorted, in the arena: whoever
// looks needs no walk over trees. All methods and edges are counted, so the tables are exact; a sample costs a few
// steps.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "arena/writer.h"

namespace sonde::agent {

class HotTables {
 public:
  explicit HotTables(arena::Writer& arena) : arena_(arena) {}

  // A method on top of the stack.
  void count_method(arena::SampleTreeKind kind, std::uint32_t method_id, std::uint64_t samples,
                    std::uint64_t weight_ns);
  // A call that the sample before did not see; caller 0: where a thread begins.
  void count_edge(arena::SampleTreeKind kind, std::uint32_t caller, std::uint32_t callee);

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kNowhere = ~0U;
  struct Count {
    std::uint64_t samples = 0;
    std::uint64_t weight_ns = 0;
    std::uint32_t place = kNowhere;  // in the table
  };
  struct Ranking {
    std::unordered_map<std::uint64_t, Count> counts;
    std::array<Count*, arena::kHotEntries> placed{};  // those in the table; they stay where they are in memory
  };

  arena::HotTable* table_of(arena::SampleTreeKind kind);
  static bool is_below(const Count& count, const arena::HotEntry* entries, std::uint32_t used);
  static void move_up(arena::HotEntry* entries, std::uint32_t& used, Ranking& ranking, std::uint64_t key, Count& count);

  arena::Writer& arena_;
  arena::HotTable* tables_ = nullptr;
  bool is_full_ = false;  // the arena had no room for the tables
  Ranking methods_[2];    // by kind
  Ranking edges_[2];
};

}  // namespace sonde::agent
