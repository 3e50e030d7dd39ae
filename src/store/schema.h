// SPDX-License-Identifier: Apache-2.0
// The tables of a recording; docs/reference/recording.md explains them. A change that an older Sonde cannot read raises
// kFormatVersion and needs a paragraph there.
#pragma once

#include <cstdint>

namespace sonde::store {

inline constexpr std::uint32_t kApplicationId = 0x534e4445;  // "SNDE"
inline constexpr std::uint32_t kFormatVersion = 5;           // 5: bare calls of roots
inline constexpr std::uint32_t kNodesPerChunk = 65536;

inline constexpr const char* kSchema = R"sql(
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE class(id INTEGER PRIMARY KEY, name TEXT NOT NULL, source_file TEXT NOT NULL, is_jdk INTEGER NOT NULL);
CREATE TABLE method(id INTEGER PRIMARY KEY, class INTEGER NOT NULL REFERENCES class, name TEXT NOT NULL,
  descriptor TEXT NOT NULL, access_flags INTEGER NOT NULL, first_line INTEGER NOT NULL, kind TEXT NOT NULL);
CREATE TABLE thread(id INTEGER PRIMARY KEY, name TEXT NOT NULL, more INTEGER NOT NULL, is_virtual INTEGER NOT NULL,
  java_thread_id INTEGER NOT NULL, start_ns INTEGER NOT NULL, first_node INTEGER NOT NULL, end_node INTEGER NOT NULL);
CREATE TABLE counter(id INTEGER PRIMARY KEY, value INTEGER NOT NULL, name TEXT NOT NULL, severity TEXT NOT NULL,
  sentence TEXT NOT NULL);
CREATE TABLE method_sum(metric TEXT NOT NULL, method INTEGER NOT NULL REFERENCES method, self INTEGER NOT NULL,
  total INTEGER NOT NULL, PRIMARY KEY(metric, method)) WITHOUT ROWID;
CREATE TABLE call_tree(chunk INTEGER PRIMARY KEY, first_node INTEGER NOT NULL, nodes INTEGER NOT NULL,
  depth BLOB NOT NULL, method BLOB NOT NULL, line BLOB NOT NULL);
CREATE TABLE tree_column(name TEXT NOT NULL, chunk INTEGER NOT NULL REFERENCES call_tree, value BLOB NOT NULL,
  UNIQUE(name, chunk));
CREATE TABLE thread_state(thread INTEGER PRIMARY KEY REFERENCES thread, state TEXT NOT NULL);
CREATE TABLE timeline(chunk INTEGER PRIMARY KEY, entries INTEGER NOT NULL, bucket BLOB NOT NULL, node BLOB NOT NULL,
  samples BLOB NOT NULL);
CREATE TABLE root(method INTEGER PRIMARY KEY REFERENCES method, calls INTEGER NOT NULL, exceptions INTEGER NOT NULL,
  timed INTEGER NOT NULL, time_ns INTEGER NOT NULL, least_ns INTEGER NOT NULL, p50_ns INTEGER NOT NULL,
  p99_ns INTEGER NOT NULL, most_ns INTEGER NOT NULL);
CREATE TABLE root_bare(method INTEGER PRIMARY KEY REFERENCES method, calls INTEGER NOT NULL, steady INTEGER NOT NULL, time_ns INTEGER NOT NULL,
  error_ns INTEGER NOT NULL, cost_percent INTEGER NOT NULL);
CREATE TABLE root_bucket(method INTEGER NOT NULL REFERENCES method, bucket INTEGER NOT NULL, least_ns INTEGER NOT NULL,
  calls INTEGER NOT NULL, PRIMARY KEY(method, bucket)) WITHOUT ROWID;
CREATE TABLE root_call(method INTEGER NOT NULL REFERENCES method, number INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  time_ns INTEGER NOT NULL, PRIMARY KEY(method, number)) WITHOUT ROWID;
CREATE VIEW method_name AS
  SELECT method.id, replace(class.name, '/', '.') || '.' || method.name AS name, method.descriptor, class.is_jdk
  FROM method JOIN class ON class.id = method.class;
CREATE VIEW top AS
  SELECT metric, name, descriptor, self, total FROM method_sum JOIN method_name ON method_name.id = method
  ORDER BY metric, self DESC;
)sql";

}  // namespace sonde::store
