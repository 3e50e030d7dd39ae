// SPDX-License-Identifier: Apache-2.0
#include "agent/session/hot_tables.h"

#include <utility>

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

// Brings an entry whose count has grown to its place. Entries that are not in the table are no larger than the last.
void HotTables::move_up(HotEntry* entries, std::uint32_t& used, Counts& counts, std::uint64_t key) {
  Count& count = counts[key];
  std::uint32_t at = count.place;
  if (at == kNowhere) {
    if (used < arena::kHotEntries) {
      at = used++;
    } else if (count.samples > entries[arena::kHotEntries - 1].samples) {
      at = arena::kHotEntries - 1;
      counts[entries[at].key].place = kNowhere;
    } else {
      return;
    }
  }
  for (; at > 0 && entries[at - 1].samples < count.samples; --at) {
    entries[at] = entries[at - 1];
    counts[entries[at].key].place = at;
  }
  entries[at] = {.key = key, .samples = count.samples, .weight_ns = count.weight_ns};
  count.place = at;
}

void HotTables::count_method(arena::SampleTreeKind kind, std::uint32_t method_id, std::uint64_t samples,
                             std::uint64_t weight_ns) {
  HotTable* table = table_of(kind);
  if (table == nullptr) return;
  Counts& counts = methods_[static_cast<std::size_t>(kind)];
  Count& count = counts[method_id];
  count.samples += samples;
  count.weight_ns += weight_ns;
  const Change change(*table);
  table->samples += samples;
  move_up(table->methods, table->method_count, counts, method_id);
}

void HotTables::count_edge(arena::SampleTreeKind kind, std::uint32_t caller, std::uint32_t callee) {
  HotTable* table = table_of(kind);
  if (table == nullptr) return;
  Counts& counts = edges_[static_cast<std::size_t>(kind)];
  const std::uint64_t key = std::uint64_t{caller} << 32 | callee;
  ++counts[key].samples;
  const Change change(*table);
  move_up(table->edges, table->edge_count, counts, key);
}

std::uint64_t HotTables::memory_bytes() const {
  std::size_t entries = 0;
  for (const Counts& counts : methods_) entries += counts.size();
  for (const Counts& counts : edges_) entries += counts.size();
  return entries * 56;
}

}  // namespace sonde::agent
