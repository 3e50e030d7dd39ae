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
  static constexpr std::uint32_t kNowhere = ~0U;

 public:
  explicit HotTables(arena::Writer& arena) : arena_(arena) {}

  // A method on top of the stack.
  void count_method(arena::SampleTreeKind kind, std::uint32_t method_id, std::uint64_t samples,
                    std::uint64_t weight_ns);
  // Stays where it is in memory.
  struct Count {
    std::uint64_t key = 0;
    std::uint64_t samples = 0;
    std::uint64_t weight_ns = 0;
    std::uint32_t place = kNowhere;  // in the table
  };
  // A call; caller 0: where a thread begins.
  Count& edge(arena::SampleTreeKind kind, std::uint32_t caller, std::uint32_t callee);
  // One that the sample before did not see.
  void count_edge(arena::SampleTreeKind kind, Count& edge);

  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  struct Ranking {
    std::unordered_map<std::uint64_t, Count> counts;
    std::array<Count*, arena::kHotEntries> placed{};  // those in the table
    Count& of(std::uint64_t key) { return counts.try_emplace(key, Count{.key = key}).first->second; }
  };

  arena::HotTable* table_of(arena::SampleTreeKind kind);
  static bool is_below(const Count& count, const arena::HotEntry* entries, std::uint32_t used);
  static void move_up(arena::HotEntry* entries, std::uint32_t& used, Ranking& ranking, Count& count);

  arena::Writer& arena_;
  arena::HotTable* tables_ = nullptr;
  bool is_full_ = false;  // the arena had no room for the tables
  Ranking methods_[2];    // by kind
  Ranking edges_[2];
};

}  // namespace sonde::agent
