// SPDX-License-Identifier: Apache-2.0
#include "store/tree.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/columns.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace sonde::store {

using profile::CallTree;
using profile::Profile;

namespace {

constexpr std::string_view kActivations = "activations";

Error malformed(std::string message) { return {ErrorCode::kMalformed, std::move(message)}; }

Result<void> write_column(Statement& insert, ColumnEncoder& encoder, std::string_view name,
                          std::span<const std::uint64_t> values) {
  for (std::size_t first = 0, chunk = 0; first < values.size(); first += kNodesPerChunk, ++chunk) {
    const auto part = values.subspan(first, std::min<std::size_t>(kNodesPerChunk, values.size() - first));
    insert << name << chunk << encoder.encode(0, part, [](std::uint64_t value) { return value; });
    TRY(insert.run());
  }
  return {};
}

// What was measured, as rows of (name, chunk, blob). Before format 3 each column was one of a table.
std::string select_columns(std::uint64_t version) {
  if (version >= 3) return "SELECT name, chunk, value FROM tree_column ORDER BY name, chunk";
  std::string sql =
      "SELECT 'calls', chunk, calls FROM call_tree UNION ALL SELECT 'bytecodes', chunk, bytecodes FROM "
      "call_tree";
  if (version == 2) {
    sql += " UNION ALL SELECT 'samples', chunk, samples FROM call_tree";
    for (const char* name : {"cpu_ns", "wall_ns", "activations"}) {
      sql += std::string(" UNION ALL SELECT '") + name + "', chunk, " + name + " FROM time_tree";
    }
  }
  return sql;
}

class TreeReader {
 public:
  TreeReader(CallTree& tree, std::size_t methods) : tree_(tree), methods_(methods) {}

  // A row (chunk, first_node, nodes, depth, method, line).
  Result<void> add_chunk(const Statement& row) {
    const std::uint64_t count = row.integer(2);
    if (row.integer(0) != chunk_ends_.size() || row.integer(1) != tree_.size() || count > kNodesPerChunk) {
      return malformed("is damaged: a part of the call tree is missing");
    }
    if (Result<void> added = add_contexts(row, count); !added.ok()) {
      return std::move(added).error().within("call tree, part " + std::to_string(row.integer(0)));
    }
    chunk_ends_.push_back(tree_.size());
    return {};
  }

  // A row (name, chunk, blob), after all contexts.
  Result<void> add_values(const Statement& row) {
    const std::string name = row.text(0);
    if (name != name_) {
      TRY(end_column());
      name_ = name;
      next_chunk_ = 0;
      column_ = column_named(name);
    }
    if (column_ == nullptr) return {};  // of a newer Sonde
    if (row.integer(1) != next_chunk_ || next_chunk_ == chunk_ends_.size()) return missing_part();
    const std::size_t begin = next_chunk_ == 0 ? 0 : chunk_ends_[next_chunk_ - 1];
    auto values = decoder_.decode(row.blob(2), chunk_ends_[next_chunk_] - begin);
    if (!values.ok()) return std::move(values).error().within(name + ", part " + std::to_string(next_chunk_));
    std::ranges::copy(*values, column_->begin() + static_cast<std::ptrdiff_t>(begin));
    ++next_chunk_;
    return {};
  }

  Result<void> end_column() {
    if (column_ != nullptr && next_chunk_ != chunk_ends_.size()) return missing_part();
    return {};
  }

 private:
  Result<void> add_contexts(const Statement& row, std::size_t count) {
    std::int64_t depth = 0;
    for (const std::uint64_t v : TRY(decoder_.decode(row.blob(3), count))) {
      depth += unzigzag(v);
      if (depth < 0 || depth > std::int64_t{0xffffffff}) return malformed("a depth makes no sense");
      tree_.depth.push_back(static_cast<std::uint32_t>(depth));
    }
    for (const std::uint64_t v : TRY(decoder_.decode(row.blob(4), count))) {
      if (v >= methods_) return malformed("method " + std::to_string(v) + " does not exist");
      tree_.method.emplace_back(static_cast<std::uint32_t>(v));
    }
    for (const std::uint64_t v : TRY(decoder_.decode(row.blob(5), count))) {
      if (v > 0xffff) return malformed("line " + std::to_string(v) + " does not exist");
      tree_.line.push_back(static_cast<std::uint16_t>(v));
    }
    return {};
  }

  std::vector<std::uint64_t>* column_named(std::string_view name) {
    if (name == kActivations) {
      tree_.activations.resize(tree_.size());
      return &tree_.activations;
    }
    const auto metric = profile::metric_named(name);
    return metric ? &tree_.column(*metric) : nullptr;
  }
  [[nodiscard]] Error missing_part() const { return malformed("is damaged: a part of " + name_ + " is missing"); }

  CallTree& tree_;
  const std::size_t methods_;
  ColumnDecoder decoder_;
  std::vector<std::size_t> chunk_ends_;  // the first node after each chunk
  std::string name_;                     // of the column that is being read
  std::vector<std::uint64_t>* column_ = nullptr;
  std::size_t next_chunk_ = 0;
};

}  // namespace

Result<void> write_tree(Database& db, const CallTree& tree) {
  Statement insert = TRY(db.prepare("INSERT INTO call_tree VALUES(?, ?, ?, ?, ?, ?)"));
  ColumnEncoder encoder;
  for (std::size_t first = 0, chunk = 0; first < tree.size(); first += kNodesPerChunk, ++chunk) {
    const std::size_t count = std::min<std::size_t>(kNodesPerChunk, tree.size() - first);
    const auto part = [&](const auto& column) { return std::span(column).subspan(first, count); };
    std::int64_t previous = 0;
    const auto difference = [&](std::uint32_t depth) {
      return zigzag(std::int64_t{depth} - std::exchange(previous, std::int64_t{depth}));
    };
    insert << chunk << first << count;
    insert << encoder.encode(0, part(tree.depth), difference);
    insert << encoder.encode(1, part(tree.method), [](profile::MethodId m) { return std::uint64_t{m.value()}; });
    insert << encoder.encode(2, part(tree.line), [](std::uint64_t line) { return line; });
    TRY(insert.run());
  }
  Statement insert_column = TRY(db.prepare("INSERT INTO tree_column VALUES(?, ?, ?)"));
  for (const profile::MetricInfo& info : profile::kMetrics) {
    TRY(write_column(insert_column, encoder, info.name, tree.values(info.metric)));
  }
  return write_column(insert_column, encoder, kActivations, tree.activations);
}

Result<void> read_tree(Database& db, Profile& profile, std::uint64_t nodes, std::uint64_t version) {
  if (nodes > 0xffffffff) return malformed("is damaged: it claims " + std::to_string(nodes) + " contexts");
  Statement chunks =
      TRY(db.prepare("SELECT chunk, first_node, nodes, depth, method, line FROM call_tree ORDER BY chunk"));
  TreeReader reader(profile.tree, profile.methods.size());
  while (TRY(chunks.next())) TRY(reader.add_chunk(chunks));
  if (profile.tree.size() != nodes) return malformed("is damaged: the end of the call tree is missing");
  Statement columns = TRY(db.prepare(select_columns(version)));
  while (TRY(columns.next())) TRY(reader.add_values(columns));
  TRY(reader.end_column());
  TRY(profile.tree.seal());
  return profile.assign_threads();
}

}  // namespace sonde::store
