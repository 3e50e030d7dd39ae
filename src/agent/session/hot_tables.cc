// SPDX-License-Identifier: Apache-2.0
#include "agent/session/hot_tables.h"

namespace sonde::agent {

using arena::HotEntry;
using arena::HotTable;

namespace {

// Readers see an odd sequence while entries change places, and look again.
class Change {
 public:
  explicit Change(HotTable& table) : table_(table) { step(); }
  ~Change() { step(); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  void step() { __atomic_store_n(&table_.sequence, table_.sequence + 1, __ATOMIC_SEQ_CST); }
  HotTable& table_;
};

}  // namespace

HotTable* HotTables::table_of(arena::SampleTreeKind kind) {
  if (tables_ == nullptr && !is_full_) {
    arena::ChunkHeader* chunk = arena_.new_chunk(arena::ChunkKind::kHot, 0, 2 * sizeof(HotTable));
    is_full_ = chunk == nullptr;
    if (is_full_) return nullptr;
    tables_ = reinterpret_cast<HotTable*>(chunk + 1);
    __atomic_store_n(&arena_.header().sampling.hot, arena_.address(tables_), __ATOMIC_RELEASE);
  }
  return tables_ == nullptr ? nullptr : tables_ + static_cast<std::size_t>(kind);
}

// Of most it is known at once that they have no place in the table, which then does not change for its readers.
bool HotTables::is_below(const Count& count, const HotEntry* entries, std::uint32_t used) {
  return count.place == kNowhere && used == arena::kHotEntries && count.samples <= entries[used - 1].samples;
}

// Brings an entry whose count has grown to its place. Entries that are not in the table are no larger than the last.
void HotTables::move_up(HotEntry* entries, std::uint32_t& used, Ranking& ranking, Count& count) {
  std::uint32_t at = count.place;
  if (at == kNowhere) {
    if (used < arena::kHotEntries) {
      at = used++;
    } else {
      at = arena::kHotEntries - 1;
      ranking.placed[at]->place = kNowhere;
    }
  }
  for (; at > 0 && entries[at - 1].samples < count.samples; --at) {
    entries[at] = entries[at - 1];
    ranking.placed[at] = ranking.placed[at - 1];
    ranking.placed[at]->place = at;
  }
  entries[at] = {.key = count.key, .samples = count.samples, .weight_ns = count.weight_ns};
  ranking.placed[at] = &count;
  count.place = at;
}

void HotTables::count_method(arena::SampleTreeKind kind, std::uint32_t method_id, std::uint64_t samples,
                             std::uint64_t weight_ns) {
  HotTable* table = table_of(kind);
  if (table == nullptr) return;
  Ranking& ranking = methods_[static_cast<std::size_t>(kind)];
  Count& count = ranking.of(method_id);
  count.samples += samples;
  count.weight_ns += weight_ns;
  const Change change(*table);
  table->samples += samples;
  if (is_below(count, table->methods, table->method_count)) return;
  move_up(table->methods, table->method_count, ranking, count);
}

HotTables::Count& HotTables::edge(arena::SampleTreeKind kind, std::uint32_t caller, std::uint32_t callee) {
  return edges_[static_cast<std::size_t>(kind)].of(std::uint64_t{caller} << 32 | callee);
}

void HotTables::count_edge(arena::SampleTreeKind kind, Count& edge) {
  HotTable* table = table_of(kind);
  if (table == nullptr) return;
  ++edge.samples;
  if (is_below(edge, table->edges, table->edge_count)) return;
  const Change change(*table);
  move_up(table->edges, table->edge_count, edges_[static_cast<std::size_t>(kind)], edge);
}

std::uint64_t HotTables::memory_bytes() const {
  std::size_t entries = 0;
  for (const Ranking& ranking : methods_) entries += ranking.counts.size();
  for (const Ranking& ranking : edges_) entries += ranking.counts.size();
  return entries * 64;
}

}  // namespace sonde::agent
